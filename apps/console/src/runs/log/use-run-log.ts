'use client'
import { stringifyDocument } from '@urql/core'
import type { GraphQLFormattedError } from 'graphql'
import { useEffect, useMemo, useState } from 'react'
import { graphql, type ResultOf } from '@/graphql/graphql.ts'
import { notifySignedOut } from '@/graphql/session.ts'
import { socket } from '@/graphql/socket.ts'
import { t } from '@/messages/index.ts'
import { LogStore } from './log-store.ts'

export const JobRunEvents = graphql(`
  subscription JobRunEvents($id: ID!, $after: BigInt) {
    jobRunEvents(id: $id, after: $after) {
      lastSeq
      events { seq kind host play task action isChanged durationMs stdout startLine lineCount createdAt }
    }
  }
`)

/**
 * Streams a run's log into a store. The cache would be too slow for a million events. After a lost connection the socket repeats the
 * request; `after` advances with every batch, so no event repeats.
 */
export function useRunLog(id: string): { store: LogStore; isComplete: boolean; error: string | null } {
  const store = useMemo(() => (id ? new LogStore() : new LogStore()), [id])
  const [isComplete, setComplete] = useState(false)
  const [error, setError] = useState<string | null>(null)
  useEffect(() => {
    setComplete(false)
    setError(null)
    const variables = { id, after: store.lastSeq }
    return socket().subscribe<ResultOf<typeof JobRunEvents>>(
      { query: stringifyDocument(JobRunEvents), variables },
      {
        next(result) {
          if (result.errors) setError(result.errors[0]?.message ?? null)
          if (!result.data) return
          store.append(result.data.jobRunEvents.events)
          variables.after = store.lastSeq
        },
        error(reason) {
          const [first] = Array.isArray(reason) ? (reason as GraphQLFormattedError[]) : []
          if (first?.extensions?.code === 'UNAUTHENTICATED') notifySignedOut()
          setError(first?.message ?? t('error.network'))
        },
        complete: () => setComplete(true),
      },
    )
  }, [id, store])
  return { store, isComplete, error }
}
