import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Heartbeat } from '@muster/protocol'
import { expect } from 'vitest'
import { position } from './fake-api.ts'

export type RecordingProxy = Awaited<ReturnType<typeof startRecordingProxy>>

/** Forwards requests of lab nodes to an API that listens on loopback only, and records the result of each heartbeat. */
export async function startRecordingProxy(address: string, apiPort: number) {
  const records: { heartbeat: Heartbeat; code: string }[] = []
  const server = http.createServer(async (req, res) => {
    try {
      const body = Buffer.concat(await req.toArray())
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`http://127.0.0.1:${apiPort}${req.url}`, { method: 'POST', headers, body })
      const text = await response.text()
      const heartbeat = JSON.parse(body.toString()).heartbeat
      if (heartbeat) records.push({ heartbeat, code: JSON.parse(text).error?.code ?? 'accepted' })
      const retryAfter = response.headers.get('retry-after')
      res.writeHead(response.status, { ...headers, ...(retryAfter ? { 'retry-after': retryAfter } : {}) }).end(text)
    } catch {
      res.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const recordsOf = (name: string) => records.filter(({ heartbeat }) => heartbeat.node_id === name)
  const accepted = (name: string) => recordsOf(name).flatMap(({ heartbeat, code }) => (code === 'accepted' ? [heartbeat] : []))
  return {
    url: `http://${address}:${(server.address() as AddressInfo).port}`,
    accepted,
    /** Each epoch was accepted in order and without gaps; only duplicates of accepted heartbeats were rejected. */
    expectComplete(name: string) {
      const positions = accepted(name).map(position)
      expect(positions).toEqual(positions.toSorted((a, b) => a - b))
      for (const [epoch, heartbeats] of Map.groupBy(accepted(name), ({ boot_epoch }) => boot_epoch))
        expect(
          heartbeats.map(({ sequence_number }) => sequence_number),
          `${name} ${epoch}`,
        ).toEqual(heartbeats.map((_, i) => i + 1))
      const rejected = recordsOf(name).filter(({ code }) => code !== 'accepted')
      expect(
        rejected.filter(({ heartbeat, code }) => code !== 'stale_sequence' || !positions.includes(position(heartbeat))),
      ).toEqual([])
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
