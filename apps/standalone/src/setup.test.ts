import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from './root.ts'
import { waitFor } from './wait.ts'

// bin/ is plain JavaScript that finds the repository from where it lies, so a copy of it works on a folder of our own.
let dir: string
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-setup-'))
  fs.cpSync(path.join(root, 'bin'), path.join(dir, 'bin'), { recursive: true })
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

/** A program that does the step "Count": one line more in `count` for each time the work is really done. */
const COUNT = `
  import fs from 'node:fs'
  import { exec, fingerprint, once, step, StepFailed } from './bin/setup/step.mjs'
  const key = fingerprint(['input'])
  try {
    await once({ name: 'count', key, outputs: ['count'] }, () => step('Count', async () => {
      if (process.env.FAIL) await exec([process.execPath, '-e', 'console.error("disk full"); process.exit(7)'])
      if (process.env.ENTER) fs.writeFileSync(process.env.ENTER, '')
      while (process.env.LEAVE && !fs.existsSync(process.env.LEAVE)) await new Promise((resolve) => setTimeout(resolve, 20))
      fs.appendFileSync('count', 'x')
    }))
  } catch (error) {
    console.log(JSON.stringify({ ours: error instanceof StepFailed, step: error.step, message: error.message, detail: error.detail }))
    process.exit(1)
  }`

function count(env: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, ['--input-type=module', '-e', COUNT], {
    cwd: dir,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
}
const counted = () => fs.readFileSync(path.join(dir, 'count'), 'utf8').length
const put = (name: string, text: string) => fs.writeFileSync(path.join(dir, name), text)

test('a step is done once, and again when its input or output is another', () => {
  put('input', 'one')
  expect(count().stdout).toMatch(/^✓ Count \.+ +0\.\d s\n$/)
  expect(count().stdout).toBe('')
  expect(counted()).toBe(1)
  put('input', 'two')
  count()
  expect(counted()).toBe(2)
  fs.rmSync(path.join(dir, 'count'))
  count()
  expect(counted()).toBe(1)
})

test('a failed step says what failed and is done again', () => {
  const { stdout, status } = count({ FAIL: '1' })
  expect(status).toBe(1)
  expect(JSON.parse(stdout.split('\n')[1]!)).toEqual({
    ours: true,
    step: 'Count',
    message: expect.stringMatching(/: exit code 7$/),
    detail: 'disk full',
  })
  count()
  expect(counted()).toBe(1)
})

/**
 * Put before COUNT: what finds the lock's owner dead stops there until another process is in the middle of the step. That one goes on
 * when the first has looked at the lock again, or does the step as well.
 */
const STALLED = `
  import { existsSync, writeFileSync } from 'node:fs'
  const kill = process.kill
  process.kill = (pid, signal) => {
    const isFirst = !existsSync('stalled')
    writeFileSync(isFirst ? 'stalled' : 'go', '')
    while (isFirst && !existsSync('inside')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    return kill.call(process, pid, signal)
  }`

test('of two that find the lock of a dead process one does the step, also when the other took it meanwhile', async () => {
  fs.mkdirSync(path.join(dir, '.tool'))
  put('.tool/count.lock', String(spawnSync(process.execPath, ['-e', '']).pid))
  const begin = (program: string, env: object) => {
    const options = { cwd: dir, env: { ...process.env, ...env }, timeout: 60_000 }
    return once(spawn(process.execPath, ['--input-type=module', '-e', program], options), 'exit')
  }
  const stalled = begin(`${STALLED}${COUNT}`, { ENTER: 'go' })
  await waitFor(() => fs.existsSync(path.join(dir, 'stalled')), 60_000)
  await Promise.all([stalled, begin(COUNT, { ENTER: 'inside', LEAVE: 'go' })])
  expect(counted()).toBe(1)
  expect(fs.existsSync(path.join(dir, '.tool/count.lock'))).toBe(false)
})

test('a wrong call names the verbs', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bin/setup.mjs', 'strat'], { cwd: dir, encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toMatch(/^There is no "strat"\. Say one of: start, test, /)
})

test('where nothing can be installed, what is missing is named', () => {
  const script =
    "import { systemPackages } from './bin/setup/system-packages.mjs'; await systemPackages(['chromium']).catch((e) => console.log(e.message, '|', e.hint))"
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: dir,
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  expect(stdout).toBe('Missing: chromium-headless-shell | Install these programs, then run the same command again.\n')
})
