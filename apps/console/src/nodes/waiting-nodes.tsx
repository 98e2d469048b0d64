'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useMemo, useRef } from 'react'
import { useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { useViewer } from '@/session/viewer.tsx'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { NodeUpdated, WaitingNodesQuery } from './documents.ts'
import { nodesParam } from './remembered.ts'

/**
 * Nodes on their way in, whoever added or moved them: never reached yet, or with a host key that waits for approval, their own or the
 * one of a bastion before them. Leads into the wizard's step for that.
 */
export function WaitingNodes() {
  const router = useRouter()
  const viewer = useViewer()
  const [{ data }, again] = useQuery({ query: WaitingNodesQuery, requestPolicy: 'cache-and-network' })
  const reload = () => again({ requestPolicy: 'network-only' })
  const ids = useMemo(() => {
    const behind = data?.unreachable.edges.filter(
      ({ node: { bastion } }) => bastion?.offeredHostKeyFingerprint || bastion?.via?.offeredHostKeyFingerprint,
    )
    const nodes = [...(data?.alarmed.edges ?? []), ...(data?.fresh.edges ?? []), ...(behind ?? [])]
    return new Set(nodes.map(({ node }) => node.id))
  }, [data])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useReconnect(reload)
  // What a test found out changes its node; a hundred tests that end at once are one more look.
  useLive(NodeUpdated, {}, ({ nodeUpdated: { id, status, hostKeyAlarm } }) => {
    if (timer.current !== undefined || (!hostKeyAlarm && status !== 'NEW' && !ids.has(id))) return
    timer.current = setTimeout(() => {
      timer.current = undefined
      reload()
    }, 500)
  })
  if (ids.size === 0) return null
  return (
    <div className="pb-3">
      <Notice
        action={
          <Button
            blockedReason={viewer.role === 'VIEWER' ? t('role.viewerBlocked') : null}
            onClick={() => router.push(`/nodes/add?step=test&nodes=${encodeURIComponent(nodesParam([...ids]))}`)}
          >
            {t('nodes.bringIn')}
          </Button>
        }
      >
        {t('nodes.waiting', { count: ids.size })}
      </Notice>
    </div>
  )
}
