import { once } from 'node:events'
import { connect } from 'node:net'
import { encodeHeartbeat, envelope, sign } from '@muster/protocol'
import { agentKey, beatOf } from './bench-agents.ts'

/** The body that the i-th agent sends. */
export function bodyOf(i: number, sequence: number, now: Date, epoch = 1): Uint8Array {
  const signed = encodeHeartbeat({ ...beatOf(i, sequence, now), boot_epoch: epoch })
  return envelope(signed, sign(signed, agentKey(i), now))
}

export type AgentLine = {
  /** @returns `accepted`, or the code of the refusal; rejects when the connection ends before the answer */
  send(body: Uint8Array): Promise<string>
  close(): void
}

/** One connection on which heartbeats go to an API, one after the other: for hundreds of thousands, fetch is too slow. */
export async function openLine(url: string): Promise<AgentLine> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setNoDelay(true)
  await once(socket, 'connect')
  let pending = ''
  let waiting: PromiseWithResolvers<string> | undefined
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1')
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0 || pending.length < end + 4 + Number(/content-length: (\d+)/i.exec(pending)![1])) return
    const answer = JSON.parse(pending.slice(end + 4)) as { accepted: boolean; error?: { code: string } }
    pending = ''
    waiting!.resolve(answer.accepted ? 'accepted' : answer.error!.code)
  })
  socket.on('error', () => {})
  socket.on('close', () => waiting?.reject(new Error('the connection has ended')))
  return {
    send(body) {
      waiting = Promise.withResolvers()
      if (socket.destroyed) waiting.reject(new Error('the connection has ended'))
      const head = `POST /agent/v1/nodes/any/heartbeat HTTP/1.1\r\nhost: test\r\ncontent-length: ${body.length}\r\n\r\n`
      socket.write(Buffer.concat([Buffer.from(head), body]))
      return waiting.promise
    },
    close: () => socket.destroy(),
  }
}
