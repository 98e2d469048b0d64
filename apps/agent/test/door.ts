import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Heartbeat } from '@muster/protocol'
import { expect } from 'vitest'
import { position } from './stand-in-api.ts'

export type Door = Awaited<ReturnType<typeof openDoor>>

/** Where nodes of a lab reach an API that listens on loopback alone. It passes on what comes, and remembers what came of each beat. */
export async function openDoor(address: string, apiPort: number) {
  const beats: { beat: Heartbeat; code: string }[] = []
  const server = http.createServer(async (req, res) => {
    try {
      const body = Buffer.concat(await req.toArray())
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(`http://127.0.0.1:${apiPort}${req.url}`, { method: 'POST', headers, body })
      const said = await reply.text()
      const beat = JSON.parse(body.toString()).heartbeat
      if (beat) beats.push({ beat, code: JSON.parse(said).error?.code ?? 'accepted' })
      const retry = reply.headers.get('retry-after')
      res.writeHead(reply.status, { ...headers, ...(retry ? { 'retry-after': retry } : {}) }).end(said)
    } catch {
      res.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const of = (name: string) => beats.filter(({ beat }) => beat.node_id === name)
  const accepted = (name: string) => of(name).flatMap(({ beat, code }) => (code === 'accepted' ? [beat] : []))
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    accepted,
    /** Every beat of each start but its last ones was accepted, in order; only what was accepted before was refused. */
    expectWhole(name: string) {
      const positions = accepted(name).map(position)
      expect(positions).toEqual(positions.toSorted((a, b) => a - b))
      for (const [epoch, ofEpoch] of Map.groupBy(accepted(name), ({ boot_epoch }) => boot_epoch))
        expect(
          ofEpoch.map(({ sequence_number }) => sequence_number),
          `${name} ${epoch}`,
        ).toEqual(ofEpoch.map((_, i) => i + 1))
      const refused = of(name).filter(({ code }) => code !== 'accepted')
      expect(refused.filter(({ beat, code }) => code !== 'stale_sequence' || !positions.includes(position(beat)))).toEqual([])
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
