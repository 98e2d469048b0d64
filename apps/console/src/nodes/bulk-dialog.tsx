'use client'
import { type ReactNode, useState } from 'react'
import { useClient } from 'urql'
import type { Outcome } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { NodeTagsQuery } from './documents.ts'

/** A selected node, read right before its update. */
export type BulkNode = { id: string; name: string; tags: string[] }
type Failed = { id: string; name: string; reason: string }
type Props = {
  ids: string[]
  title: string
  action: string
  isDangerous?: boolean
  blockedReason?: string | null
  children: ReactNode
  /** Updates one node. */
  send: (node: BulkNode) => Promise<Outcome<unknown>>
  /** Receives the IDs of updated nodes. */
  onDone?: (ids: string[]) => void
  onClose: () => void
}

/** Requests in flight at once. */
const CONCURRENCY = 6

/** Updates many nodes one by one, lists failures with their reasons, and retries them. */
export function BulkDialog({
  ids: initialIds,
  title,
  action,
  isDangerous,
  blockedReason,
  children,
  send,
  onDone,
  onClose,
}: Props) {
  const client = useClient()
  // The dialog's own updates may change the selection while it is open.
  const [ids] = useState(initialIds)
  const [waiting, setWaiting] = useState(initialIds)
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null)
  const [failed, setFailed] = useState<Failed[] | null>(null)

  async function updateOne(id: string): Promise<Failed | null> {
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
    const failures: Failed[] = []
    let done = 0
    setProgress({ done, total: queue.length })
    const worker = async () => {
      for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
        const problem = await updateOne(id)
        if (problem) failures.push(problem)
        setProgress({ done: ++done, total: waiting.length })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
    setProgress(null)
    const failedIds = new Set(failures.map(({ id }) => id))
    onDone?.(waiting.filter((id) => !failedIds.has(id)))
    if (failures.length === 0) {
      toast('ok', t('bulk.done', { count: ids.length }))
      onClose()
      return
    }
    setFailed(failures.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })))
    setWaiting([...failedIds])
  }
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{failed ? t('common.close') : t('common.cancel')}</Button>
          <Button
            variant={isDangerous ? 'danger' : 'primary'}
            showReason
            busy={progress !== null}
            blockedReason={blockedReason}
            onClick={() => void start()}
          >
            {progress ? t('bulk.progress', progress) : failed ? t('preflight.retryFailed', { count: failed.length }) : action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-sm">
        {failed && (
          <Notice tone="bad" title={t('bulk.rejected', { count: failed.length, done: ids.length - failed.length })}>
            <ul className="mt-1 flex max-h-60 flex-col gap-1 overflow-auto">
              {failed.map(({ id, name, reason }) => (
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
