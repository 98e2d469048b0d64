import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../test/tree.ts'
import { askStatus, type Status, serveStatus } from './status.ts'

const status = {
  total_heartbeats: 5,
  failed_heartbeats: 1,
  sequence_number: 4,
  boot_epoch: 9,
  uptime_seconds: 7,
  waiting_heartbeats: 0,
  dropped_heartbeats: 0,
}
const told = { ...status, last_error: null, last_accepted_at: '2026-01-01T00:00:00.000Z' } as unknown as Status

const get = (socketPath: string, where: string, method = 'GET') =>
  new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    http
      .request({ socketPath, path: where, method }, (res) => {
        let body = ''
        res.on('data', (part) => {
          body += part
        })
        res.on('end', () => resolve({ status: res.statusCode, body }))
      })
      .on('error', reject)
      .end()
  })

test('tells its status on a socket, to be read and no more', async () => {
  const at = path.join(folder(), 'run/status.sock')
  expect(await askStatus(at)).toBeNull()
  const server = await serveStatus(() => told, { path: at })
  expect(await askStatus(at)).toEqual(told)
  const metrics = await get(at, '/metrics')
  expect(metrics.status).toBe(200)
  expect(metrics.body).toContain('# TYPE muster_agent_total_heartbeats counter\nmuster_agent_total_heartbeats 5\n')
  expect(metrics.body).toContain('muster_agent_last_accepted_timestamp_seconds 1767225600\n')
  expect(metrics.body).not.toMatch(/null|undefined|NaN/)
  expect((await get(at, '/other')).status).toBe(404)
  expect((await get(at, '/', 'POST')).status).toBe(405)
  await new Promise((resolve) => server.close(resolve))
  // One that was killed leaves its socket.
  const again = await serveStatus(() => told, { path: at })
  expect(await askStatus(at)).toEqual(told)
  await new Promise((resolve) => again.close(resolve))
})

test('whoever sends nonsense or nothing does it no harm', async () => {
  const at = path.join(folder(), 'status.sock')
  const server = await serveStatus(() => told, { path: at })
  for (const sent of ['x'.repeat(5000), '\r\n\r\n'.repeat(500), 'GET / HTTP/1.1\r\n']) {
    const said = await new Promise<string>((resolve) => {
      let all = ''
      const socket = net.connect({ path: at }, () => socket.write(sent))
      socket.on('data', (data) => {
        all += data
      })
      socket.on('close', () => resolve(all)).on('error', () => {})
    })
    expect(said).toMatch(/^HTTP\/1\.1 (200|405)/)
  }
  expect(await askStatus(at)).toEqual(told)
  server.close()
})
