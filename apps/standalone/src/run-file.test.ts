import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { claimRun } from './run-file.ts'

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
  const who = identify(child.pid!)!
  child.kill('SIGKILL')
  await once(child, 'exit')
  return who
}

const write = (run: unknown) => fs.writeFileSync(path.join(dir, 'run.json'), JSON.stringify(run))

test('has one holder, who says where it is, and whose file is private', async () => {
  const first = await claimRun(dir, () => {})
  if (!first.claimed) throw new Error('not claimed')
  first.update({ url: 'http://localhost:3000' })
  expect(fs.statSync(path.join(dir, 'run.json')).mode & 0o777).toBe(0o600)
  expect(await claimRun(dir, () => {})).toEqual({ claimed: false, url: 'http://localhost:3000' })
  first.release()
  expect((await claimRun(dir, () => {})).claimed).toBe(true)
})

test('of many at once, one wins, also over a killed predecessor', async () => {
  write({ supervisor: await dead(), url: '', children: [] })
  const claims = await Promise.all(Array.from({ length: 5 }, () => claimRun(dir, () => {})))
  expect(claims.filter(({ claimed }) => claimed)).toHaveLength(1)
})

test('ends what a killed predecessor left, and nobody else', async () => {
  const [left, stranger] = [sleeper(), sleeper()]
  write({
    supervisor: await dead(),
    url: '',
    children: [
      { name: 'api', ...left },
      { name: 'worker', pid: stranger.pid, startedAt: 'another time' },
    ],
  })
  const said: string[] = []
  expect((await claimRun(dir, (line) => said.push(line))).claimed).toBe(true)
  expect([isAlive(left), isAlive(stranger)]).toEqual([false, true])
  expect(said).toEqual(['An earlier start was killed; ending what it left: api'])
})

test('half a file is no predecessor', async () => {
  fs.writeFileSync(path.join(dir, 'run.json'), '{"supervisor":{"pid"')
  expect((await claimRun(dir, () => {})).claimed).toBe(true)
})
