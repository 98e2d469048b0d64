import { WebSocket } from 'ws'
import { LOG_SUBSCRIPTION, type LogEvent } from './onboard.ts'

type Message = {
  type: string
  payload?: { data?: { jobRunEvents: { events: LogEvent[] } } | null; errors?: { message: string }[] }
}

/**
 * Follow a run's log over a WebSocket of its own by the protocol of graphql-ws and nothing around it: a thousand clients share the machine
 * with what they measure.
 * @param onEvents given each batch; what it throws ends the following. Returns whether to drop the connection
 * @returns whether the log came to its end; false when the connection was dropped
 */
export function followLightly(
  url: string,
  token: string,
  variables: { id: string; after: number },
  onEvents: (events: LogEvent[]) => boolean,
): Promise<boolean> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false })
  const send = (message: object) => socket.send(JSON.stringify(message))
  const end = Promise.withResolvers<boolean>()
  const hear = (message: Message) => {
    if (message.type === 'next' && message.payload?.data) {
      if (!onEvents(message.payload.data.jobRunEvents.events)) return
      end.resolve(false)
      socket.terminate()
    } else if (message.type === 'connection_ack') {
      send({ id: '1', type: 'subscribe', payload: { query: LOG_SUBSCRIPTION, variables } })
    } else if (message.type === 'ping') send({ type: 'pong' })
    else if (message.type === 'complete') {
      end.resolve(true)
      socket.close()
    } else throw new Error(`the API said ${JSON.stringify(message)}`)
  }
  socket.on('open', () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
  socket.on('message', (data) => {
    try {
      hear(JSON.parse(String(data)) as Message)
    } catch (error) {
      end.reject(error)
      socket.terminate()
    }
  })
  socket.on('error', end.reject)
  socket.on('close', (code) => end.reject(new Error(`the API closed a connection with ${code}`)))
  return end.promise
}
