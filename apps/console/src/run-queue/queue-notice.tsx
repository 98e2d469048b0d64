'use client'
import { useEffect } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { WaitingQuery } from '@/runs/documents.ts'
import { Notice } from '@/ui/notice.tsx'
import { Blockers } from './blockers.tsx'

const PAUSE_MS = 5_000

/** Why a run is waiting. Changes of the blocking runs don't update this run, so it polls. */
export function QueueNotice({ id }: { id: string }) {
  const [{ data }, again] = useQuery({ query: WaitingQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  useEffect(() => {
    const timer = setInterval(() => again({ requestPolicy: 'network-only' }), PAUSE_MS)
    return () => clearInterval(timer)
  }, [again])
  const run = data?.node?.__typename === 'JobRun' ? data.node : null
  if (!run?.waitingReason) return null
  const isForRuns = run.waitingFor.length > 0 && !data?.queue.isPaused
  return (
    <Notice title={isForRuns ? t('run.waitsFor', { count: run.waitingFor.length }) : run.waitingReason}>
      {isForRuns && <Blockers runs={run.waitingFor} />}
      {run.queuePosition !== null && <p className="text-muted">{t('run.queuePosition', { position: run.queuePosition })}</p>}
    </Notice>
  )
}
