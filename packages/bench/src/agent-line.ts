import { once } from 'node:events'
import { connect } from 'node:net'
import { encodeHeartbeat, envelope, sign } from '@muster/protocol'
import { agentKey, heartbeatOf } from './bench-agents.ts'

/** Heartbeat body of the i-th agent. */
export function bodyOf(i: number, sequence: number, now: Date, epoch = 1): Uint8Array {
  const signed = encodeHeartbeat({ ...heartbeatOf(i, sequence, now), boot_epoch: epoch })
  return envelope(signed, sign(signed, agentKey(i), now))
}

export type AgentLine = {
  /** @returns `accepted` or the rejection code; rejects when the connection ends before the response */
  send(body: Uint8Array): Promise<string>
  close(): void
}

/** A connection with pipelined heartbeat requests; fetch is too slow for hundreds of thousands. */
export async function openLine(url: string): Promise<AgentLine> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).setNoDelay(true)
  await once(socket, 'connect')
  let pending = ''
  const waiting: PromiseWithResolvers<string>[] = []
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1')
    for (;;) {
      const body = pending.indexOf('\r\n\r\n') + 4
      const end = body + Number(/content-length: (\d+)/i.exec(pending)?.[1])
      if (body < 4 || pending.length < end) return
      const answer = JSON.parse(pending.slice(body, end)) as { accepted: boolean; error?: { code: string } }
      pending = pending.slice(end)
      waiting.shift()!.resolve(answer.accepted ? 'accepted' : answer.error!.code)
    }
  })
  const end = () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the connection has ended'))
  }
  socket.on('error', () => {})
  socket.on('close', end)
  return {
    send(body) {
      const answer = Promise.withResolvers<string>()
      waiting.push(answer)
      const head = `POST /agent/v1/nodes/any/heartbeat HTTP/1.1\r\nhost: test\r\ncontent-length: ${body.length}\r\n\r\n`
      if (socket.destroyed) end()
      else socket.write(Buffer.concat([Buffer.from(head), body]))
      return answer.promise
    },
    close: () => socket.destroy(),
  }
}
