import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from './root.ts'

// bin/ derives the repository's path from its own location, so a copy of it works in a temporary folder.
let dir: string
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-setup-'))
  fs.cpSync(path.join(root, 'bin'), path.join(dir, 'bin'), { recursive: true })
})
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }))

/** A program with the step "Count", which appends one character to `count` each time its work runs. */
const COUNT = `
  import fs from 'node:fs'
  import { ensureStep, exec, fingerprint, step, StepFailed } from './bin/setup/step.mjs'
  const key = fingerprint(['input'])
  try {
    await ensureStep({ name: 'count', key, outputs: ['count'] }, () => step('Count', async () => {
      if (process.env.FAIL) await exec([process.execPath, '-e', 'console.error("disk full"); process.exit(7)'])
      if (process.env.ENTER) fs.writeFileSync(process.env.ENTER, '')
      while (process.env.LEAVE && !fs.existsSync(process.env.LEAVE)) await new Promise((resolve) => setTimeout(resolve, 20))
      fs.appendFileSync('count', 'x')
    }))
  } catch (error) {
    console.log(JSON.stringify({ isStepFailed: error instanceof StepFailed, step: error.step, message: error.message, detail: error.detail }))
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

test('runs a step once, and again when its input changed or its output is missing', () => {
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

test('accepts the key of another variant of a step', () => {
  const program = COUNT.replace('key, outputs', "key: 'part', acceptedKeys: [key], outputs")
  put('input', 'one')
  count()
  spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: dir })
  expect(counted()).toBe(1)
  put('input', 'two')
  spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: dir })
  expect(counted()).toBe(2)
})

test('reports a failed step and runs it again', () => {
  const { stdout, status } = count({ FAIL: '1' })
  expect(status).toBe(1)
  expect(JSON.parse(stdout.split('\n')[1]!)).toEqual({
    isStepFailed: true,
    step: 'Count',
    message: expect.stringMatching(/: exit code 7$/),
    detail: 'disk full',
  })
  count()
  expect(counted()).toBe(1)
})

/**
 * Prepended to COUNT: pauses after finding the lock's owner dead until another process is inside the step. That process continues once
 * the first has checked the lock again or runs the step too.
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

test('one of two processes that find a stale lock runs the step, also when the other has replaced the lock', async () => {
  fs.mkdirSync(path.join(dir, '.tool'))
  put('.tool/count.lock', String(spawnSync(process.execPath, ['-e', '']).pid))
  const launch = (program: string, env: object) => {
    const options = { cwd: dir, env: { ...process.env, ...env }, timeout: 60_000 }
    return once(spawn(process.execPath, ['--input-type=module', '-e', program], options), 'exit')
  }
  const stalled = launch(`${STALLED}${COUNT}`, { ENTER: 'go' })
  await expect.poll(() => fs.existsSync(path.join(dir, 'stalled'))).toBe(true)
  await Promise.all([stalled, launch(COUNT, { ENTER: 'inside', LEAVE: 'go' })])
  expect(counted()).toBe(1)
  expect(fs.existsSync(path.join(dir, '.tool/count.lock'))).toBe(false)
})

test('an unknown command lists the commands', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bin/setup.mjs', 'strat'], { cwd: dir, encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toMatch(/^Unknown command "strat"\. Commands: start, test, /)
})

test('reports that bubblewrap is missing when it cannot install it, and goes on', () => {
  const script = "import { sandbox } from './bin/setup/sandbox.mjs'; await sandbox(); console.log('goes on')"
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: dir,
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  const reason =
    process.platform === 'linux'
      ? '  bubblewrap is missing (only root can install it here). Next step: install bubblewrap, then start again.\n'
      : ''
  expect(stdout).toBe(`${reason}goes on\n`)
})

test('reports missing programs when it cannot install them', () => {
  const script =
    "import { systemPackages } from './bin/setup/system-packages.mjs'; await systemPackages(['chromium']).catch((e) => console.log(e.message, '|', e.hint))"
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: dir,
    env: { PATH: '/nowhere' },
    encoding: 'utf8',
  })
  expect(stdout).toBe('Missing programs: chromium-headless-shell | Install these programs, then run the command again.\n')
})
