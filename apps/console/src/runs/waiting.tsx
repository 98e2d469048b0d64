'use client'
import { useEffect } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import { WaitingQuery } from './documents.ts'
import { Obstacles } from './obstacles.tsx'

const PAUSE_MS = 5_000

/** Why a run has not begun. What it waits for happens to other runs, of which its own news say nothing: it is asked again and again. */
export function Waiting({ id }: { id: string }) {
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
      {isForRuns && <Obstacles runs={run.waitingFor} />}
      {run.queuePosition !== null && <p className="text-muted">{t('run.queuePosition', { position: run.queuePosition })}</p>}
    </Notice>
  )
}
