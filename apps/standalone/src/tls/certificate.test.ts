import { X509Certificate } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createReverseProxy } from '../reverse-proxy.ts'
import { ensureSelfSigned } from './certificate.ts'
import { followCertificate, readCertificate } from './serve-certificate.ts'

let dataDir: string
beforeEach(() => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-tls-'))
})
afterEach(() => {
  vi.useRealTimers()
  fs.rmSync(dataDir, { recursive: true, force: true })
})

const fetchVia = (port: number, ca: Buffer | undefined, host: string) =>
  new Promise<string>((resolve) => {
    const request = https.get({ host: '127.0.0.1', port, ca, servername: host, agent: false }, (response) => {
      response.resume().on('end', () => resolve('trusted'))
    })
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

test('creates a certificate that only clients with its file trust, for every name of the machine', async () => {
  const { certFile, keyFile } = await ensureSelfSigned(dataDir, 'https://muster.example.org')
  for (const file of [certFile, keyFile]) expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  const certificate = new X509Certificate(fs.readFileSync(certFile))
  expect(certificate.ca).toBe(false)
  expect(certificate.subjectAltName).toMatch(/DNS:muster\.example\.org, .*IP Address:127\.0\.0\.1/)
  const server = https.createServer({ cert: fs.readFileSync(certFile), key: fs.readFileSync(keyFile) }, (_request, response) =>
    response.end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ca = fs.readFileSync(certFile)
  expect(await fetchVia(port, ca, 'muster.example.org')).toBe('trusted')
  expect(await fetchVia(port, ca, 'localhost')).toBe('trusted')
  expect(await fetchVia(port, ca, 'other.example.org')).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  expect(await fetchVia(port, undefined, 'localhost')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  server.close()
})

test('keeps the certificate until shortly before its end, or until the name changes', async () => {
  const read = async (host = 'localhost') =>
    fs.readFileSync((await ensureSelfSigned(dataDir, `https://${host}:3000`)).certFile, 'utf8')
  const first = await read()
  expect(await read()).toBe(first)
  expect(await read('127.0.0.1')).toBe(first)
  expect(await read('[::1]')).toBe(first)
  const renamed = await read('muster.example.org')
  expect(renamed).not.toBe(first)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 794 * 86_400_000 })
  expect(await read('muster.example.org')).toBe(renamed)
  vi.setSystemTime(Date.now() + 2 * 86_400_000)
  expect(await read('muster.example.org')).not.toBe(renamed)
})

test('the reverse proxy serves TLS, tells the API so, and uses a renewed certificate', async () => {
  const forwarded: (string | undefined)[] = []
  const api = http.createServer((request, response) => {
    forwarded.push(request.headers['x-forwarded-proto'] as string)
    response.end()
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const target = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  const files = await ensureSelfSigned(dataDir, 'https://muster.example.org')
  const proxy = createReverseProxy({ api: target, console: target }, { tls: readCertificate(files) }) as https.Server
  let reloads = 0
  const unfollow = followCertificate(proxy, files, () => reloads++, 10)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const before = fs.readFileSync(files.certFile)
  expect(await fetchVia(port, before, 'muster.example.org')).toBe('trusted')
  expect(forwarded).toEqual(['https'])
  await ensureSelfSigned(dataDir, 'https://renamed.example.org')
  await vi.waitFor(() => expect(reloads).toBeGreaterThan(0), { timeout: 20_000 })
  expect(await fetchVia(port, fs.readFileSync(files.certFile), 'renamed.example.org')).toBe('trusted')
  unfollow()
  proxy.close()
  api.close()
})

test('names a file that cannot be read, and files that do not belong together', async () => {
  const { certFile, keyFile } = await ensureSelfSigned(dataDir, 'https://localhost')
  expect(() => readCertificate({ certFile: '/nonexistent', keyFile })).toThrow(
    'TLS_CERT_FILE names /nonexistent, which cannot be read',
  )
  const other = await ensureSelfSigned(path.join(dataDir, 'other'), 'https://localhost')
  expect(() => readCertificate({ certFile, keyFile: other.keyFile })).toThrow(/cannot be used: .*belong together/)
})
