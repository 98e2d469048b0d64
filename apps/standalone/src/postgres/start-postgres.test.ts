import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { identify, isAlive } from '../process-identity.ts'
import { query } from '../testing/query.ts'
import { type RunningPostgres, startPostgres } from './start-postgres.ts'
import { startTestPostgres } from './test-postgres.ts'

let home: string
const running: RunningPostgres[] = []

beforeEach(() => {
  // Like a clone under /root: a private folder, with a space in its name.
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'muster standalone '))
  fs.chmodSync(home, 0o700)
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
  fs.rmSync(home, { recursive: true, force: true })
})

async function start(): Promise<RunningPostgres> {
  const server = await startPostgres({ dir: path.join(home, 'pg'), durable: false, settings: { fsync: 'off' } })
  running.push(server)
  return server
}

describe('startPostgres', () => {
  test('retains its data across a restart, in a private folder with a space in its name', async () => {
    const first = await start()
    await query(first.url, 'create table stored as select 1 as value')
    await first.stop()
    expect(identify(first.pid)).toBeUndefined()

    const second = await start()
    expect(await query(second.url, 'select value from stored')).toEqual([{ value: 1 }])
  })

  test('never runs as root and requires the password', async () => {
    const server = await start()
    const owner = fs.statSync(path.join(home, 'pg/data')).uid
    expect(owner).not.toBe(0)
    expect(fs.statSync(path.join(home, 'pg/password')).mode & 0o777).toBe(0o600)
    await expect(query(server.url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password authentication failed')
  })

  test('stops an orphaned server on its data directory', async () => {
    const orphan = await start()
    const orphanIdentity = identify(orphan.pid)!
    const next = await start()
    expect(isAlive(orphanIdentity)).toBe(false)
    expect(await query(next.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('recovers after the server was killed', async () => {
    const first = await start()
    await query(first.url, 'create table stored as select 1 as value')
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    expect(await query((await start()).url, 'select value from stored')).toEqual([{ value: 1 }])
  })

  test('does not touch an unrelated process with the pid in the lock file', async () => {
    const first = await start()
    await first.stop()
    const stranger = spawn('sleep', ['60'])
    try {
      fs.writeFileSync(path.join(home, 'pg/data/postmaster.pid'), `${stranger.pid}\n`)
      await start()
      expect(identify(stranger.pid!)).toBeDefined()
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  test('reports the log when it cannot start', async () => {
    const server = startPostgres({ dir: path.join(home, 'pg'), durable: false, settings: { shared_buffers: 'nonsense' } })
    await expect(server).rejects.toThrow(/invalid value for parameter "shared_buffers"/)
  })
})

describe('startTestPostgres', () => {
  test('is stopped and removed by the next one after its owner was killed', async () => {
    const owner = spawn(process.execPath, [path.join(import.meta.dirname, 'hold-test-postgres.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [line] = (await once(createInterface(owner.stdout), 'line')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const [{ pid, dir }] = (await query(
      url,
      `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid, pg_read_file('postmaster.opts') as dir`,
    )) as [{ pid: number; dir: string }]
    expect(dir).toContain('fsync=off')
    const server = identify(pid)!
    const folder = path.dirname(fs.readlinkSync(`/proc/${pid}/cwd`))
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    expect(isAlive(server)).toBe(true)

    const next = await startTestPostgres()
    running.push(next)
    expect(isAlive(server)).toBe(false)
    expect(fs.existsSync(folder)).toBe(false)
    expect(await query(next.url, 'show fsync')).toEqual([{ fsync: 'off' }])
  })

  test('stops when its owner closes stdin, and removes its files', async () => {
    const owner = spawn(process.execPath, [path.join(import.meta.dirname, 'hold-test-postgres.ts')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const [line] = (await once(createInterface(owner.stdout), 'line')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const [{ pid }] = (await query(url, `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid`)) as [
      { pid: number },
    ]
    const folder = path.dirname(fs.readlinkSync(`/proc/${pid}/cwd`))
    owner.stdin.end()
    await once(owner, 'exit')
    await expect.poll(() => Boolean(identify(pid)) || fs.existsSync(folder)).toBe(false)
  })
})
