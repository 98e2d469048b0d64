'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import type { Outcome } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { type Lookup, LookupUpdated } from './documents.ts'

/** Starts a lookup in a cluster at each new `key`, unless it is null, and waits for its result. */
export function useLookup(key: string | null, start: () => Promise<Outcome<{ slurmLookup: Lookup }>>) {
  const [attempt, setAttempt] = useState(0)
  const request = `${attempt} ${key}`
  const [state, setState] = useState<{ request: string; lookup: Lookup | null; error: string | null } | null>(null)
  const latest = useRef(start)
  latest.current = start
  useEffect(() => {
    if (key === null) return
    let isCurrent = true
    void latest.current().then((outcome) => {
      if (!isCurrent) return
      const { issues, message } = outcome.ok ? { issues: [], message: null } : outcome.problem
      const error = issues.length > 0 ? issues.map((issue) => issue.message).join(' ') : message
      setState({ request, lookup: outcome.ok ? outcome.value.slurmLookup : null, error })
    })
    return () => {
      isCurrent = false
    }
  }, [key, request])
  const current = state?.request === request ? state : null
  const lookup = current?.lookup ?? null
  useLive(
    LookupUpdated,
    lookup && !lookup.finishedAt && !current?.error ? { id: lookup.id } : null,
    ({ slurmLookupUpdated }) => setState({ request, lookup: slurmLookupUpdated, error: null }),
    () => setState((now) => (now?.lookup && !now.lookup.finishedAt ? { ...now, error: t('slurmHistory.lost') } : now)),
  )
  const error = current?.error ?? lookup?.error ?? null
  return {
    /** Null before it has succeeded. */
    result: lookup?.finishedAt && error === null ? lookup : null,
    error,
    /** Whether it failed because the cluster has no accounting. */
    isUnrecorded: lookup?.hasAccounting === false,
    isRunning: key !== null && error === null && !lookup?.finishedAt,
    retry: useCallback(() => setAttempt((n) => n + 1), []),
  }
}
