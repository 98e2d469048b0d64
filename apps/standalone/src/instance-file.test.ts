import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claimDataDir } from './instance-file.ts'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'

let dir: string
const started: ReturnType<typeof spawn>[] = []

beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-run-'))
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  fs.rmSync(dir, { recursive: true, force: true })
})

function sleeper(): ProcessIdentity {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  started.push(child)
  return identify(child.pid!)!
}

async function dead(): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  const identity = identify(child.pid!)!
  child.kill('SIGKILL')
  await once(child, 'exit')
  return identity
}

const write = (instance: unknown) => fs.writeFileSync(path.join(dir, 'run.json'), JSON.stringify(instance))

test('has one supervisor with a private file, and returns its URL to others', async () => {
  const first = await claimDataDir(dir, () => {})
  if (!first.claimed) throw new Error('not claimed')
  first.update({ url: 'http://localhost:3000' })
  expect(fs.statSync(path.join(dir, 'run.json')).mode & 0o777).toBe(0o600)
  expect(await claimDataDir(dir, () => {})).toEqual({ claimed: false, url: 'http://localhost:3000' })
  first.release()
  expect((await claimDataDir(dir, () => {})).claimed).toBe(true)
})

test('one of several concurrent claims succeeds after a killed predecessor', async () => {
  write({ supervisor: await dead(), url: '', children: [] })
  const claims = await Promise.all(Array.from({ length: 5 }, () => claimDataDir(dir, () => {})))
  expect(claims.filter(({ claimed }) => claimed)).toHaveLength(1)
})

test('ends only the processes of a killed predecessor', async () => {
  const [leftover, stranger] = [sleeper(), sleeper()]
  write({
    supervisor: await dead(),
    url: '',
    children: [
      { name: 'api', ...leftover },
      { name: 'worker', pid: stranger.pid, startedAt: 'another time' },
    ],
  })
  const printed: string[] = []
  expect((await claimDataDir(dir, (line) => printed.push(line))).claimed).toBe(true)
  expect([isAlive(leftover), isAlive(stranger)]).toEqual([false, true])
  expect(printed).toEqual(['The previous start was killed. Stopping its processes: api'])
})

test('ignores a truncated file', async () => {
  fs.writeFileSync(path.join(dir, 'run.json'), '{"supervisor":{"pid"')
  expect((await claimDataDir(dir, () => {})).claimed).toBe(true)
})
