import { CloseCode, createClient, type Client as SocketClient } from 'graphql-ws'
import { notifySignedOut } from './session.ts'

export type LiveState = 'idle' | 'connecting' | 'live' | 'lost'

let client: SocketClient | undefined
let state: LiveState = 'idle'
let hadConnection = false
const stateListeners = new Set<() => void>()
const reconnectListeners = new Set<() => void>()

function setState(next: LiveState) {
  state = next
  for (const listener of stateListeners) listener()
}

/** Delay before a retry: 0.5 s, doubled up to 5 s, with jitter so that clients don't reconnect all at once. */
function retryWait(retries: number): Promise<void> {
  const ms = Math.min(5000, 500 * 2 ** retries) * (0.75 + Math.random() / 2)
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The WebSocket of this tab: opened by the first subscription, closed after the last, retried without limit. */
export function socket(): SocketClient {
  client ??= createClient({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    // Texts of the server are translated by their codes.
    connectionParams: { 'x-message-codes': '1' },
    lazyCloseTimeout: 3000,
    keepAlive: 12_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait,
    on: {
      connecting: () => setState(hadConnection ? 'lost' : 'connecting'),
      connected: () => {
        setState('live')
        if (hadConnection) for (const listener of reconnectListeners) listener()
        hadConnection = true
      },
      closed: (event) => {
        const { code } = event as CloseEvent
        const isWanted = code === 1000
        if (isWanted) hadConnection = false
        setState(isWanted ? 'idle' : 'lost')
        if (code !== CloseCode.Unauthorized) return
        resetSocket()
        notifySignedOut()
      },
    },
  })
  return client
}

/** Closes the socket, which carries the previous session; the next subscription opens a new one. */
export function resetSocket(): void {
  client?.dispose()
  client = undefined
  hadConnection = false
  setState('idle')
}

export const liveState = {
  get: (): LiveState => state,
  subscribe(listener: () => void) {
    stateListeners.add(listener)
    return () => void stateListeners.delete(listener)
  },
}

/** Calls the listener after a lost connection is restored, to read what was missed. Returns the unsubscribe function. */
export function onReconnect(listener: () => void): () => void {
  reconnectListeners.add(listener)
  return () => void reconnectListeners.delete(listener)
}
