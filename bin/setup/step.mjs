import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { root, tool, toolEnv } from './paths.mjs'

/** An error for the user. `detail` has the last lines of a failed command's output, `hint` the next step. */
export class StepFailed extends Error {
  constructor(message, { detail = '', hint = '' } = {}) {
    super(message)
    this.detail = detail
    this.hint = hint
  }
}

/** Output stream of progress lines. `bin/muster` uses stderr, because stdout is the command's output. */
export const progress = { out: process.stdout }

const startedAt = Date.now()
const running = new Set()
let ticker

/**
 * Runs `work` and prints one line with its duration. Steps may run in parallel; on a terminal the last line lists the running ones.
 * @template T
 * @param {string} title
 * @param {() => T | Promise<T>} work may return { note } for the line's end
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const started = Date.now()
  running.add(title)
  ticker ??= progress.out.isTTY ? setInterval(showRunning, 250) : undefined
  let mark = '✗'
  let note = ''
  try {
    const result = await work()
    note = result?.note ? ` (${result.note})` : ''
    mark = '✓'
    return result
  } catch (error) {
    error.step ??= title
    if (error instanceof Aborted) mark = '-'
    throw error
  } finally {
    running.delete(title)
    if (running.size === 0) ticker = void clearInterval(ticker)
    const elapsed = `${((Date.now() - started) / 1000).toFixed(1)} s`
    clearLine()
    progress.out.write(`${mark} ${`${title}${note} `.padEnd(62, '.')} ${elapsed.padStart(7)}\n`)
  }
}

function showRunning() {
  clearLine()
  progress.out.write(
    `  ${[...running].join(', ')} … ${Math.round((Date.now() - startedAt) / 1000)} s`.slice(0, (progress.out.columns ?? 80) - 1),
  )
}

function clearLine() {
  if (progress.out.isTTY) progress.out.write('\r\x1b[2K')
}

/** Hash of file contents (a missing file counts as empty) and plain words. */
export function fingerprint(files, words = []) {
  const hash = createHash('sha256').update(words.join('\n'))
  for (const file of files)
    hash.update(`\n${path.relative(root, file)}\n`).update(fs.existsSync(file) ? fs.readFileSync(file) : '')
  return hash.digest('hex')
}

/**
 * Runs `work` unless the step `name` has completed with the same key, or one of `acceptedKeys`, and its outputs still exist.
 * One process at a time per step.
 * @param {{name: string, key: string, acceptedKeys?: string[], outputs: string[]}} stepInfo
 */
export async function ensureStep({ name, key, acceptedKeys = [], outputs }, work) {
  const stamp = path.join(tool, 'stamps', name)
  const done = () =>
    fs.existsSync(stamp) &&
    [key, ...acceptedKeys].includes(fs.readFileSync(stamp, 'utf8')) &&
    outputs.every((file) => fs.existsSync(file))
  if (done()) return
  await withLock(name, async () => {
    if (done()) return // another process completed it while we waited for the lock
    fs.rmSync(stamp, { force: true })
    await work()
    fs.mkdirSync(path.dirname(stamp), { recursive: true })
    fs.writeFileSync(stamp, key)
  })
}

/** Runs `work` holding the lock of a step. Takes over a lock whose owner has exited. */
async function withLock(name, work) {
  const lock = path.join(tool, `${name}.lock`)
  fs.mkdirSync(tool, { recursive: true })
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code === 'EACCES')
        throw new StepFailed(`${tool} belongs to another user`, { hint: `Remove ${tool} as its owner, or run as that user.` })
      if (error.code !== 'EEXIST') throw error
    }
    if (isOwnerAlive(lock) || !removeStaleLock(lock)) await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const release = () => fs.rmSync(lock, { force: true })
  process.once('exit', release)
  try {
    await work()
  } finally {
    process.removeListener('exit', release)
    release()
  }
}

function isOwnerAlive(lock) {
  try {
    const pid = Number(fs.readFileSync(lock, 'utf8'))
    if (!pid) return isRecent(lock) // being written
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

/**
 * Removes a stale lock. Guarded by a folder: without it, a second process could remove the new lock of the first.
 * @returns whether this process held the guard
 */
function removeStaleLock(lock) {
  const clearing = `${lock}.clearing`
  try {
    fs.mkdirSync(clearing)
  } catch {
    if (!isRecent(clearing)) fs.rmSync(clearing, { recursive: true, force: true })
    return false
  }
  if (!isOwnerAlive(lock)) fs.rmSync(lock, { force: true })
  fs.rmdirSync(clearing)
  return true
}

const isRecent = (file) => Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 2000

const children = new Set()
let aborting = false

/**
 * Runs a program to completion and returns its output. Throws StepFailed with the last lines of its output.
 * @param {string[]} argv
 * @param {{cwd?: string, env?: Record<string, string>, hint?: string}} options
 * @returns {Promise<string>}
 */
export async function exec([program, ...args], { cwd = root, env = toolEnv(), hint = '' } = {}) {
  if (aborting) throw new Aborted()
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = (output + chunk).slice(-200_000)))
  const failure = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? null : signal ? `killed by ${signal}` : `exit code ${code}`))
  })
  children.delete(child)
  if (aborting) throw new Aborted()
  if (failure === null) return output
  const command = [path.basename(program), ...args].join(' ')
  throw new StepFailed(`${command.length > 100 ? `${command.slice(0, 100)}…` : command}: ${failure}`, {
    detail: lastLines(output),
    hint,
  })
}

/** Thrown when the setup was interrupted, by a signal or by the failure of a parallel step. */
export class Aborted extends Error {}

/** Kills all programs started by `exec` and rejects further ones. */
export function killChildren() {
  aborting = true
  for (const child of children) child.kill('SIGTERM')
}

function lastLines(text) {
  return text.trimEnd().split('\n').slice(-20).join('\n')
}
