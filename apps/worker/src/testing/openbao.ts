import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { freePort } from './free-port.ts'

type Data = Record<string, unknown>
export type TestBao = {
  address: string
  rootToken: string
  write(path: string, body: Data): Promise<Data>
  read(path: string): Promise<Data>
  stop(): Promise<void>
}

/** An OpenBao server with in-memory storage. `npm test` sets its path in OPENBAO. */
export async function startOpenBao(): Promise<TestBao> {
  const home = await mkdtemp(join(tmpdir(), 'muster-bao-'))
  const port = await freePort()
  const rootToken = randomUUID()
  const child: ChildProcess = spawn(
    process.env.OPENBAO!,
    ['server', '-dev', '-dev-no-store-token', `-dev-listen-address=127.0.0.1:${port}`],
    {
      env: { HOME: home, PATH: process.env.PATH, BAO_DEV_ROOT_TOKEN_ID: rootToken },
      stdio: 'ignore',
    },
  )
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  const address = `http://127.0.0.1:${port}`
  const call = async (method: string, path: string, body?: Data): Promise<Data> => {
    const response = await fetch(`${address}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': rootToken },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return ((text ? JSON.parse(text) : {}) as { data?: Data }).data ?? {}
  }
  // The KV engine is available shortly after the server listens.
  await vi.waitFor(async () => expect(await call('GET', 'sys/mounts')).toHaveProperty(['secret/']), 30_000)
  return {
    address,
    rootToken,
    write: (path, body) => call('POST', path, body),
    read: (path) => call('GET', path),
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(home, { recursive: true, force: true })
    },
  }
}
