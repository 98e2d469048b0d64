'use client'
import { useCallback, useMemo, useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { CheckReadiness, type Readiness, type ReadinessInput, ReadinessUpdated } from './documents.ts'

/** Checks nodes over SSH, and follows the check node by node. */
export function useReadiness() {
  const starting = useMutation(CheckReadiness)
  const [check, setCheck] = useState<Readiness | null>(null)
  useLive(ReadinessUpdated, check && !check.finishedAt ? { id: check.id } : null, ({ slurmReadinessCheckUpdated }) =>
    setCheck(slurmReadinessCheckUpdated),
  )
  const { run, busy, problem } = starting
  const start = useCallback(
    async (input: ReadinessInput) => {
      setCheck(null)
      const outcome = await run({ input })
      if (outcome.ok) setCheck(outcome.value.slurmReadinessCheck)
    },
    [run],
  )
  const nodes = useMemo(() => new Map(check?.nodes.map((node) => [node.nodeId, node])), [check])
  return {
    start,
    /** By node ID; empty before. */
    nodes,
    isRunning: busy || (check !== null && !check.finishedAt),
    isFinished: check?.finishedAt != null,
    checkedCount: check?.nodes.filter(({ checks }) => checks !== null).length ?? 0,
    /** Why the check did not start. */
    problem,
    /** Why it ended early. */
    error: check?.error ?? null,
  }
}
