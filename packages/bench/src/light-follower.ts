import { WebSocket } from 'ws'
import { textOf } from './client.ts'
import { RUN_EVENTS } from './documents.ts'
import type { ResultOf } from './graphql.ts'
import type { LogEvent } from './onboard.ts'

type Message = {
  type: string
  payload?: { data?: ResultOf<typeof RUN_EVENTS> | null; errors?: { message: string }[] }
}

/** Counters of received messages. */
export type Received = { messages: number; bytes: number }

const RUN_EVENTS_TEXT = textOf(RUN_EVENTS)

/**
 * Follows a run's log over a WebSocket of its own with the graphql-ws protocol but without its library: a thousand clients share the
 * machine with the measured server.
 * @param onEvents receives each batch and returns whether to drop the connection; an exception ends the function
 * @returns true when the log is complete, false when the connection was dropped
 */
export function followLightly(
  url: string,
  token: string,
  variables: { id: string; after: number },
  onEvents: (events: readonly LogEvent[]) => boolean,
  received: Received = { messages: 0, bytes: 0 },
): Promise<boolean> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false })
  const send = (message: object) => socket.send(JSON.stringify(message))
  const end = Promise.withResolvers<boolean>()
  const receive = (message: Message) => {
    if (message.type === 'next' && message.payload?.data) {
      if (!onEvents(message.payload.data.jobRunEvents.events)) return
      end.resolve(false)
      socket.terminate()
    } else if (message.type === 'connection_ack') {
      send({ id: '1', type: 'subscribe', payload: { query: RUN_EVENTS_TEXT, variables } })
    } else if (message.type === 'ping') send({ type: 'pong' })
    else if (message.type === 'complete') {
      end.resolve(true)
      socket.close()
    } else throw new Error(`Unexpected message of the API: ${JSON.stringify(message)}`)
  }
  socket.on('open', () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  socket.on('message', (data) => {
    received.messages++
    received.bytes += (data as Buffer).length
    try {
      receive(JSON.parse(String(data)) as Message)
    } catch (error) {
      end.reject(error)
      socket.terminate()
    }
  })
  socket.on('error', end.reject)
  socket.on('close', (code) => end.reject(new Error(`The API closed a connection with code ${code}`)))
  return end.promise
}
