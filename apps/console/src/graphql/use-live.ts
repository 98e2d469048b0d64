'use client'
import { useEffect, useRef } from 'react'
import { type AnyVariables, type TypedDocumentNode, useClient } from 'urql'
import { onReconnect } from './socket.ts'

/**
 * Follow a subscription while mounted. `variables` null: not now. Its objects also land in the cache, so queries on screen follow by
 * themselves; `onData` is for the rest, `onEnd` when the server completes it.
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
    let isOver = false
    const { unsubscribe } = client.subscription(document, JSON.parse(key) as V).subscribe((result) => {
      if (result.data) handlers.current.onData?.(result.data)
      if (!result.hasNext && !isOver) {
        isOver = true
        handlers.current.onEnd?.()
      }
    })
    return unsubscribe
  }, [client, document, key])
}

/** Read again after a lost connection is back. */
export function useReconnect(reload: () => void): void {
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => onReconnect(() => latest.current()), [])
}
