import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createTempDir } from '../test/temp-files.ts'
import { fetchStatus, type Status, serveStatus } from './status.ts'

const status = {
  total_heartbeats: 5,
  failed_heartbeats: 1,
  sequence_number: 4,
  boot_epoch: 9,
  uptime_seconds: 7,
  waiting_heartbeats: 0,
  dropped_heartbeats: 0,
}
const fullStatus = { ...status, last_error: null, last_accepted_at: '2026-01-01T00:00:00.000Z' } as unknown as Status

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

test('serves its status read-only on a socket', async () => {
  const socketPath = path.join(createTempDir(), 'run/status.sock')
  expect(await fetchStatus(socketPath)).toBeNull()
  const server = await serveStatus(() => fullStatus, { path: socketPath })
  expect(await fetchStatus(socketPath)).toEqual(fullStatus)
  const metrics = await get(socketPath, '/metrics')
  expect(metrics.status).toBe(200)
  expect(metrics.body).toContain('# TYPE muster_agent_total_heartbeats counter\nmuster_agent_total_heartbeats 5\n')
  expect(metrics.body).toContain('muster_agent_last_accepted_timestamp_seconds 1767225600\n')
  expect(metrics.body).not.toMatch(/null|undefined|NaN/)
  expect((await get(socketPath, '/other')).status).toBe(404)
  expect((await get(socketPath, '/', 'POST')).status).toBe(405)
  await new Promise((resolve) => server.close(resolve))
  // A killed agent leaves its socket behind.
  const again = await serveStatus(() => fullStatus, { path: socketPath })
  expect(await fetchStatus(socketPath)).toEqual(fullStatus)
  await new Promise((resolve) => again.close(resolve))
})

test('survives malformed and incomplete requests', async () => {
  const socketPath = path.join(createTempDir(), 'status.sock')
  const server = await serveStatus(() => fullStatus, { path: socketPath })
  for (const sent of ['x'.repeat(5000), '\r\n\r\n'.repeat(500), 'GET / HTTP/1.1\r\n']) {
    const response = await new Promise<string>((resolve) => {
      let all = ''
      const socket = net.connect({ path: socketPath }, () => socket.write(sent))
      socket.on('data', (data) => {
        all += data
      })
      socket.on('close', () => resolve(all)).on('error', () => {})
    })
    expect(response).toMatch(/^HTTP\/1\.1 (200|405)/)
  }
  expect(await fetchStatus(socketPath)).toEqual(fullStatus)
  server.close()
})
