import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'
import { type ChildSpec, createSupervisor, type Supervisor } from './supervisor.ts'
import { waitFor } from './wait.ts'

let dir: string
let supervisor: Supervisor
let said: string[]
let living: (ProcessIdentity & { name: string })[]

beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-supervisor-'))
  said = []
  living = []
  supervisor = createSupervisor({
    logDir: dir,
    say: (line) => said.push(line),
    onChange: (children) => (living = children),
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

/** A child that runs `source` and is ready when its file `NAME.ready` is there. */
function child(name: string, source: string): ChildSpec {
  const ready = path.join(dir, `${name}.ready`)
  return {
    name,
    argv: ['-e', `const fs = require('node:fs'); const ready = () => fs.writeFileSync(${JSON.stringify(ready)}, ''); ${source}`],
    env: process.env,
    ready: () => fs.existsSync(ready),
  }
}
const STAYS = 'setInterval(() => {}, 1000);'
const log = (name: string) => fs.readFileSync(path.join(dir, `${name}.log`), 'utf8')

test('keeps the whole log in a file and shows warnings and errors in short', async () => {
  const lines = ['{"level":"info","msg":"quiet"}', '{"level":40,"msg":"loud","err":{"message":"because"}}', 'plain']
  await supervisor.start(
    child('talker', `${lines.map((line) => `console.log(${JSON.stringify(line)});`).join('')} ready(); ${STAYS}`),
  )
  await waitFor(() => log('talker').includes('plain'), 5_000)
  expect(log('talker')).toBe(`${lines.join('\n')}\n`)
  expect(said).toEqual(['talker   warning: loud: because'])
})

test('hands a secret over by a descriptor, at each start, and by nothing that others can look at', async () => {
  const read = `console.log(fs.readFileSync(4, 'utf8').length, fs.readFileSync('/proc/self/environ', 'latin1').includes('hunter2')); ready(); ${STAYS}`
  await supervisor.start({ ...child('keeper', read), secret: 'hunter2 and more' })
  process.kill(living[0]!.pid, 'SIGKILL')
  await waitFor(() => log('keeper').split('\n').length > 2, 5_000)
  expect(log('keeper')).toBe('16 false\n16 false\n')
})

test('starts a child again that ends by itself', async () => {
  await supervisor.start(child('phoenix', `ready(); ${STAYS}`))
  const first = living[0]!
  process.kill(first.pid, 'SIGKILL')
  expect(await waitFor(() => living[0] && living[0].pid !== first.pid, 5_000)).toBeTruthy()
  expect(said[0]).toMatch(/^phoenix +was ended by SIGKILL; it starts again in 0\.01 s/)
})

test('a child that ends before it is ready fails the start, with its last words, and is not started again', async () => {
  const start = supervisor.start(child('broken', `console.error('PORT must be a number'); process.exitCode = 3`))
  await expect(start).rejects.toThrow(/^broken ended with exit code 3\. The end of its output:\nPORT must be a number$/)
  expect(living).toEqual([])
  expect(said).toEqual([])
})

test('stop ends children gently, kills those that do not listen, and takes what they started along', async () => {
  const note = path.join(dir, 'note')
  await supervisor.start(
    child(
      'polite',
      `process.on('SIGTERM', () => { fs.writeFileSync(${JSON.stringify(note)}, 'bye'); process.exit(0) }); ready(); ${STAYS}`,
    ),
  )
  await supervisor.start(
    child(
      'deaf',
      `process.on('SIGTERM', () => {}); const sub = require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' });
       console.log('{"sub":' + sub.pid + '}'); ready(); ${STAYS}`,
    ),
  )
  const text = (await waitFor(() => log('deaf').trim(), 5_000))!
  const all = [...living, identify((JSON.parse(text) as { sub: number }).sub)!]
  expect(all.map(isAlive)).toEqual([true, true, true])
  await supervisor.stop()
  expect(await waitFor(() => !all.some(isAlive), 5_000)).toBe(true)
  expect(fs.readFileSync(note, 'utf8')).toBe('bye')
  await expect(supervisor.start(child('late', STAYS))).rejects.toThrow('everything is being stopped')
})

test('lines that hold secrets stay out of the log', async () => {
  const lines: string[] = []
  await supervisor.start({
    ...child('secretive', `console.log('hush'); console.error('fine'); ready(); ${STAYS}`),
    onLine: (line) => lines.push(line),
  })
  await waitFor(() => lines.length > 0 && log('secretive') !== '', 5_000)
  expect(lines).toEqual(['hush'])
  expect(log('secretive')).toBe('fine\n')
})

test('children end when their supervisor is killed', async () => {
  const script = `
    const { createSupervisor } = await import(${JSON.stringify(path.join(import.meta.dirname, 'supervisor.ts'))})
    const s = createSupervisor({ logDir: ${JSON.stringify(dir)}, say: () => {}, onChange: (c) => c[0] && console.log(JSON.stringify(c[0])) })
    await s.start({ name: 'orphan', argv: ['-e', 'setInterval(() => {}, 1000)'], env: process.env, ready: () => true })
    console.log('ready')`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Both lines may come at once.
  const lines = createInterface(owner.stdout)[Symbol.asyncIterator]()
  const orphan = JSON.parse((await lines.next()).value!) as ProcessIdentity
  expect((await lines.next()).value).toBe('ready')
  expect(isAlive(orphan)).toBe(true)
  owner.kill('SIGKILL')
  expect(await waitFor(() => !isAlive(orphan), 10_000)).toBe(true)
})
