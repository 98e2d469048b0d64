import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type RunningPostgres, startPostgres } from './postgres.ts'
import { identify, isAlive } from './process-identity.ts'
import { startTestPostgres } from './test-postgres.ts'
import { waitFor } from './wait.ts'

let home: string
const running: RunningPostgres[] = []

beforeEach(() => {
  // As in a clone under /root: a private folder, with a space in its name.
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

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('startPostgres', () => {
  test('keeps its data over a stop and a start, in a private folder with a space in its name', async () => {
    const first = await start()
    await query(first.url, "create table kept as select 'yes' as said")
    await first.stop()
    expect(identify(first.pid)).toBeUndefined()

    const second = await start()
    expect(await query(second.url, 'select said from kept')).toEqual([{ said: 'yes' }])
  })

  test('never runs as root and wants the password', async () => {
    const server = await start()
    const owner = fs.statSync(path.join(home, 'pg/data')).uid
    expect(owner).not.toBe(0)
    expect(fs.statSync(path.join(home, 'pg/password')).mode & 0o777).toBe(0o600)
    await expect(query(server.url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password authentication failed')
  })

  test('ends a server that was left behind on its data', async () => {
    const orphan = await start()
    const who = identify(orphan.pid)!
    const next = await start()
    expect(isAlive(who)).toBe(false)
    expect(await query(next.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('recovers when the server was killed', async () => {
    const first = await start()
    await query(first.url, "create table kept as select 'yes' as said")
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    expect(await query((await start()).url, 'select said from kept')).toEqual([{ said: 'yes' }])
  })

  test('does not touch a stranger whose pid is in the lock file', async () => {
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

  test('says what the log says when it cannot start', async () => {
    const server = startPostgres({ dir: path.join(home, 'pg'), durable: false, settings: { shared_buffers: 'nonsense' } })
    await expect(server).rejects.toThrow(/invalid value for parameter "shared_buffers"/)
  })
})

describe('startTestPostgres', () => {
  test('is ended and removed by the next one when its owner was killed', async () => {
    const owner = spawn(process.execPath, [path.join(import.meta.dirname, 'print-test-postgres.ts')], {
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

  test('ends with its owner’s stdin, and leaves nothing', async () => {
    const owner = spawn(process.execPath, [path.join(import.meta.dirname, 'print-test-postgres.ts')], {
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
    expect(await waitFor(() => !identify(pid) && !fs.existsSync(folder), 5000)).toBe(true)
  })
})
