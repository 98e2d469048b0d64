'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useMemo, useRef } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { NodeUpdated, WaitingNodesQuery } from './documents.ts'
import { toNodesParam } from './selection-store.ts'

/**
 * A notice about nodes that need setup: never reached, or blocked by a host key that needs approval, their own or that of a bastion.
 * Links to the wizard's test step.
 */
export function SetupNotice() {
  const router = useRouter()
  const blockedReason = useBlockedReason('connection:test')
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
  // Connection tests update their nodes; many updates cause one reload.
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
            blockedReason={blockedReason}
            onClick={() => router.push(`/nodes/add?step=test&nodes=${encodeURIComponent(toNodesParam([...ids]))}`)}
          >
            {t('nodes.setUp')}
          </Button>
        }
      >
        {t('nodes.waiting', { count: ids.size })}
      </Notice>
    </div>
  )
}
