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

/** Calls `reload` after a lost connection is restored. */
export function useReconnect(reload: () => void): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => onReconnect(() => latest.current()), [])
}
