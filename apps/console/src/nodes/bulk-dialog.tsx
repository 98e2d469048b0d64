'use client'
import { type ReactNode, useState } from 'react'
import { useClient } from 'urql'
import type { Outcome } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { NodeTagsQuery } from './documents.ts'

/** A chosen node as it stands when its turn comes. */
export type BulkNode = { id: string; name: string; tags: string[] }
type Refused = { id: string; name: string; reason: string }
type Props = {
  ids: string[]
  title: string
  action: string
  isDangerous?: boolean
  blockedReason?: string | null
  children: ReactNode
  /** Do it to one node. */
  send: (node: BulkNode) => Promise<Outcome<unknown>>
  /** Those it has been done to. */
  onDone?: (ids: string[]) => void
  onClose: () => void
}

/** So many requests under way at the same time. */
const AT_ONCE = 6

/** One change to many nodes, each on its own: what was refused is named with its reason, and can be tried again. */
export function BulkDialog({ ids: given, title, action, isDangerous, blockedReason, children, send, onDone, onClose }: Props) {
  const client = useClient()
  // What was chosen may change under an open dialog, by its own work.
  const [ids] = useState(given)
  const [waiting, setWaiting] = useState(given)
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null)
  const [refused, setRefused] = useState<Refused[] | null>(null)

  async function one(id: string): Promise<Refused | null> {
    const read = await client.query(NodeTagsQuery, { id }, { requestPolicy: 'network-only' }).toPromise()
    if (!read.data) return { id, name: id, reason: t('error.network') }
    const { node } = read.data
    if (node?.__typename !== 'ComputeNode') return { id, name: id, reason: t('node.notFound') }
    const outcome = await send(node)
    if (outcome.ok) return null
    const { message, issues } = outcome.problem
    return { id, name: node.name, reason: issues.length > 0 ? issues.map((issue) => issue.message).join(' ') : message }
  }
  async function start() {
    const queue = [...waiting]
    const bad: Refused[] = []
    let done = 0
    setProgress({ done, total: queue.length })
    const worker = async () => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        const problem = await one(id)
        if (problem) bad.push(problem)
        setProgress({ done: ++done, total: waiting.length })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    setProgress(null)
    const refusedIds = new Set(bad.map(({ id }) => id))
    onDone?.(waiting.filter((id) => !refusedIds.has(id)))
    if (bad.length === 0) {
      toast('ok', t('bulk.done', { count: ids.length }))
      onClose()
      return
    }
    setRefused(bad.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })))
    setWaiting([...refusedIds])
  }
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{refused ? t('common.close') : t('common.cancel')}</Button>
          <Button
            look={isDangerous ? 'danger' : 'primary'}
            saysReason
            busy={progress !== null}
            blockedReason={blockedReason}
            onClick={() => void start()}
          >
            {progress ? t('bulk.progress', progress) : refused ? t('preflight.retryFailed', { count: refused.length }) : action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-sm">
        {refused && (
          <Notice tone="bad" title={t('bulk.refused', { count: refused.length, done: ids.length - refused.length })}>
            <ul className="mt-1 flex max-h-60 flex-col gap-1 overflow-auto">
              {refused.map(({ id, name, reason }) => (
                <li key={id}>
                  <span className="pr-2 font-mono font-medium">{name}</span>
                  {reason}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        {children}
      </div>
    </Dialog>
  )
}
