import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { type ChildSpec, createSupervisor, type Supervisor } from './supervisor.ts'

let dir: string
let supervisor: Supervisor
let printed: string[]
let alive: (ProcessIdentity & { name: string })[]

beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-supervisor-'))
  printed = []
  alive = []
  supervisor = createSupervisor({
    logDir: dir,
    print: (line) => printed.push(line),
    onChange: (children) => (alive = children),
    graceMs: 1_000,
    backoffMs: 10,
    readyWithinMs: 10_000,
  })
})
afterEach(async () => {
  supervisor.kill()
  await supervisor.stop()
  fs.rmSync(dir, { recursive: true, force: true })
})

/** A child that runs `source` and is ready when the file `NAME.ready` exists. */
function child(name: string, source: string): ChildSpec {
  const ready = path.join(dir, `${name}.ready`)
  return {
    name,
    argv: ['-e', `const fs = require('node:fs'); const ready = () => fs.writeFileSync(${JSON.stringify(ready)}, ''); ${source}`],
    env: process.env,
    ready: () => fs.existsSync(ready),
  }
}
const KEEP_RUNNING = 'setInterval(() => {}, 1000);'
const log = (name: string) => fs.readFileSync(path.join(dir, `${name}.log`), 'utf8')

test('writes the whole log to a file and prints warnings and errors in short form', async () => {
  const lines = ['{"level":"info","msg":"quiet"}', '{"level":40,"msg":"loud","err":{"message":"because"}}', 'plain']
  await supervisor.start(
    child('talker', `${lines.map((line) => `console.log(${JSON.stringify(line)});`).join('')} ready(); ${KEEP_RUNNING}`),
  )
  await expect.poll(() => log('talker')).toBe(`${lines.join('\n')}\n`)
  expect(printed).toEqual(['talker   warning: loud: because'])
})

test('passes a secret through a file descriptor at each start, never through the environment', async () => {
  const read = `console.log(fs.readFileSync(4, 'utf8').length, fs.readFileSync('/proc/self/environ', 'latin1').includes('hunter2')); ready(); ${KEEP_RUNNING}`
  await supervisor.start({ ...child('reader', read), secret: 'hunter2 and more' })
  process.kill(alive[0]!.pid, 'SIGKILL')
  await expect.poll(() => log('reader')).toBe('16 false\n16 false\n')
})

test('restarts a child that exits', async () => {
  await supervisor.start(child('phoenix', `ready(); ${KEEP_RUNNING}`))
  const first = alive[0]!
  process.kill(first.pid, 'SIGKILL')
  await expect.poll(() => alive.filter(({ pid }) => pid !== first.pid)).toHaveLength(1)
  expect(printed[0]).toMatch(/^phoenix +was killed by SIGKILL; restarting in 0\.01 s/)
})

test('a child that exits before it is ready fails the start with its output, and is not restarted', async () => {
  const start = supervisor.start(child('broken', `console.error('PORT must be a number'); process.exitCode = 3`))
  await expect(start).rejects.toThrow(/^broken exited with code 3\. Last lines of its output:\nPORT must be a number$/)
  expect(alive).toEqual([])
  expect(printed).toEqual([])
})

test('stop sends SIGTERM, then kills the process groups of children that ignore it', async () => {
  const note = path.join(dir, 'note')
  await supervisor.start(
    child(
      'polite',
      `process.on('SIGTERM', () => { fs.writeFileSync(${JSON.stringify(note)}, 'bye'); process.exit(0) }); ready(); ${KEEP_RUNNING}`,
    ),
  )
  await supervisor.start(
    child(
      'unresponsive',
      `process.on('SIGTERM', () => {}); const sub = require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' });
       console.log('{"sub":' + sub.pid + '}'); ready(); ${KEEP_RUNNING}`,
    ),
  )
  await expect.poll(() => log('unresponsive')).not.toBe('')
  const all = [...alive, identify((JSON.parse(log('unresponsive')) as { sub: number }).sub)!]
  expect(all.map(isAlive)).toEqual([true, true, true])
  await supervisor.stop()
  await expect.poll(() => all.some(isAlive)).toBe(false)
  expect(fs.readFileSync(note, 'utf8')).toBe('bye')
  await expect(supervisor.start(child('late', KEEP_RUNNING))).rejects.toThrow('Muster is stopping')
})

test('lines for onLine are not logged', async () => {
  const lines: string[] = []
  await supervisor.start({
    ...child('secretive', `console.log('hush'); console.error('fine'); ready(); ${KEEP_RUNNING}`),
    onLine: (line) => lines.push(line),
  })
  await expect.poll(() => lines).toEqual(['hush'])
  await expect.poll(() => log('secretive')).toBe('fine\n')
})

test('children exit when their supervisor is killed', async () => {
  const script = `
    const { createSupervisor } = await import(${JSON.stringify(path.join(import.meta.dirname, 'supervisor.ts'))})
    const s = createSupervisor({ logDir: ${JSON.stringify(dir)}, print: () => {}, onChange: (c) => c[0] && console.log(JSON.stringify(c[0])) })
    await s.start({ name: 'orphan', argv: ['-e', 'setInterval(() => {}, 1000)'], env: process.env, ready: () => true })
    console.log('ready')`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Both lines may arrive in one chunk.
  const lines = createInterface(owner.stdout)[Symbol.asyncIterator]()
  const orphan = JSON.parse((await lines.next()).value!) as ProcessIdentity
  expect((await lines.next()).value).toBe('ready')
  expect(isAlive(orphan)).toBe(true)
  owner.kill('SIGKILL')
  await expect.poll(() => isAlive(orphan)).toBe(false)
})
