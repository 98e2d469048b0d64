'use client'
import { useEffect, useRef } from 'react'
import { type AnyVariables, type TypedDocumentNode, useClient } from 'urql'
import { onReconnect } from './socket.ts'

/**
 * Subscribes while mounted, except while `variables` is null. Received objects also update the cache, and with it the queries on the
 * page. `onEnd` is called when the server completes the subscription.
 */
export function useLive<D, V extends AnyVariables>(
  document: TypedDocumentNode<D, V>,
  variables: V | null,
  onData?: (data: D) => void,
  onEnd?: () => void,
): void {
  const client = useClient()
  const handlers = useRef({ onData, onEnd })
  handlers.current = { onData, onEnd }
  const key = variables === null ? null : JSON.stringify(variables)
  useEffect(() => {
    if (key === null) return
    let isFinished = false
    const { unsubscribe } = client.subscription(document, JSON.parse(key) as V).subscribe((result) => {
      if (result.data) handlers.current.onData?.(result.data)
      if (!result.hasNext && !isFinished) {
        isFinished = true
        handlers.current.onEnd?.()
      }
    })
    return unsubscribe
  }, [client, document, key])
}

/** Values in a list of a subscription. */
const MAX_LIST = 500

/** As `useLive`, for a subscription to objects by ID. Many objects take several subscriptions. */
export function useLiveObjects<D>(
  document: TypedDocumentNode<D, { ids: string[] }>,
  ids: readonly string[],
  onData: (data: D) => void,
): void {
  const client = useClient()
  const handler = useRef(onData)
  handler.current = onData
  const key = ids.join(' ')
  useEffect(() => {
    const all = key.split(' ').filter(Boolean)
    const parts = Array.from({ length: Math.ceil(all.length / MAX_LIST) }, (_, i) =>
      client
        .subscription(document, { ids: all.slice(i * MAX_LIST, (i + 1) * MAX_LIST) })
        .subscribe(({ data }) => data && handler.current(data)),
    )
    return () => {
      for (const { unsubscribe } of parts) unsubscribe()
    }
  }, [client, document, key])
}

/** Calls `reload` after a lost connection is restored. */
export function useReconnect(reload: () => void): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => onReconnect(() => latest.current()), [])
}
