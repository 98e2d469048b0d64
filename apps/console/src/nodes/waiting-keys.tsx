'use client'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useClient, useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { useViewer } from '@/session/viewer.tsx'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { NodeUpdated, UntestedBehindBastionsQuery, WaitingHostKeysQuery } from './documents.ts'
import { HostKeysDialog } from './host-keys-dialog.tsx'
import type { KeyToApprove } from './preflight-list.tsx'
import { TestDialog } from './test-dialog.tsx'

/** Host keys that wait for approval, whoever asked for the test: look at them, approve, and test the nodes again. */
export function WaitingKeys() {
  const client = useClient()
  const viewer = useViewer()
  const [{ data }, again] = useQuery({ query: WaitingHostKeysQuery, requestPolicy: 'cache-and-network' })
  const [shown, setShown] = useState<KeyToApprove[] | null>(null)
  const [testing, setTesting] = useState<string[] | null>(null)
  const reload = () => again({ requestPolicy: 'network-only' })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useReconnect(reload)
  // What a test found out changes its node; a hundred tests that end at once are one more look.
  useLive(NodeUpdated, {}, ({ nodeUpdated }) => {
    if (timer.current !== undefined || (!nodeUpdated.hostKeyAlarm && nodeUpdated.status !== 'NEW')) return
    timer.current = setTimeout(() => {
      timer.current = undefined
      reload()
    }, 500)
  })
  const keys = useMemo<KeyToApprove[]>(() => {
    const bastions = data?.credentials.edges.flatMap(({ node }) =>
      node.offeredHostKeyFingerprint
        ? {
            id: node.id,
            name: node.name,
            fingerprint: node.offeredHostKeyFingerprint,
            isChanged: node.hostKeyFingerprint !== null,
            isBastion: true,
            nodes: node.nodeCount,
          }
        : [],
    )
    const nodes = data?.nodes.edges.flatMap(({ node }) =>
      node.hostKeyAlarm
        ? {
            id: node.id,
            name: node.name,
            fingerprint: node.hostKeyAlarm.offeredFingerprint,
            isChanged: node.hostKeyAlarm.isChanged,
            isBastion: false,
            nodes: 1,
          }
        : [],
    )
    return [...(bastions ?? []), ...(nodes ?? [])]
  }, [data])

  async function testAgain(approved: KeyToApprove[]) {
    setShown(null)
    const bastions = new Set(approved.filter((key) => key.isBastion).map((key) => key.id))
    const ids = approved.filter((key) => !key.isBastion).map((key) => key.id)
    if (bastions.size > 0) {
      const behind = await client.query(UntestedBehindBastionsQuery, {}, { requestPolicy: 'network-only' }).toPromise()
      for (const { node } of behind.data?.nodes.edges ?? [])
        if (node.bastion && (bastions.has(node.bastion.id) || bastions.has(node.bastion.via?.id ?? ''))) ids.push(node.id)
    }
    reload()
    if (ids.length > 0) setTesting([...new Set(ids)])
  }
  return (
    <>
      {keys.length > 0 && (
        <div className="pb-3">
          <Notice
            action={
              <Button blockedReason={viewer.role === 'VIEWER' ? t('role.viewerBlocked') : null} onClick={() => setShown(keys)}>
                {t('hostKey.review')}
              </Button>
            }
          >
            {t('hostKey.waiting', { count: keys.length })}
          </Notice>
        </div>
      )}
      {shown && <HostKeysDialog keys={shown} onClose={() => setShown(null)} onApproved={() => void testAgain(shown)} />}
      {testing && (
        <TestDialog nodeIds={testing} title={t('test.titleMany', { count: testing.length })} onClose={() => setTesting(null)} />
      )}
    </>
  )
}
