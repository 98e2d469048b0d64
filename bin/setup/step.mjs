import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { root, tool, toolEnv } from './paths.mjs'

/** Something the person at the terminal can act on. `detail` is the end of a failed command's output, `hint` what to do. */
export class StepFailed extends Error {
  constructor(message, { detail = '', hint = '' } = {}) {
    super(message)
    this.detail = detail
    this.hint = hint
  }
}

/** Where progress goes. `bin/muster` moves it to stderr, because its stdout belongs to the command. */
export const progress = { out: process.stdout }

const begun = Date.now()
const running = new Set()
let ticker

/**
 * Do `work` and print one line with the time it took. Several steps may run at once; on a terminal the last line shows which.
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
    if (error instanceof Ended) mark = '-'
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
    `  ${[...running].join(', ')} … ${Math.round((Date.now() - begun) / 1000)} s`.slice(0, (progress.out.columns ?? 80) - 1),
  )
}

function clearLine() {
  if (progress.out.isTTY) progress.out.write('\r\x1b[2K')
}

/** Fingerprint of files and folders (by content; a missing one counts as empty) and of plain words. */
export function fingerprint(files, words = []) {
  const hash = createHash('sha256').update(words.join('\n'))
  for (const file of files)
    hash.update(`\n${path.relative(root, file)}\n`).update(fs.existsSync(file) ? fs.readFileSync(file) : '')
  return hash.digest('hex')
}

/**
 * Whether the step `name` has already been done for these inputs and its outputs still exist; else does it and remembers.
 * @param {{name: string, key: string, outputs: string[]}} what
 */
export async function once({ name, key, outputs }, work) {
  const stamp = path.join(tool, 'stamps', name)
  const done = () =>
    fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === key && outputs.every((file) => fs.existsSync(file))
  if (done()) return
  await alone(name, async () => {
    if (done()) return // another process did it while we waited
    fs.rmSync(stamp, { force: true })
    await work()
    fs.mkdirSync(path.dirname(stamp), { recursive: true })
    fs.writeFileSync(stamp, key)
  })
}

/** One process at a time per step; a lock whose owner has died is taken over. */
async function alone(name, work) {
  const lock = path.join(tool, `${name}.lock`)
  fs.mkdirSync(tool, { recursive: true })
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code === 'EACCES')
        throw new StepFailed(`${tool} belongs to another user`, { hint: `Remove ${tool} as its owner, or work as that user.` })
      if (error.code !== 'EEXIST') throw error
    }
    if (ownerLives(lock) || !clear(lock)) await new Promise((resolve) => setTimeout(resolve, 200))
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

function ownerLives(lock) {
  try {
    const pid = Number(fs.readFileSync(lock, 'utf8'))
    if (!pid) return isYoung(lock) // being written
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

/**
 * Take a dead owner's lock away, alone: of two that have found it dead, the second would take away what the first has put there since.
 * @returns whether it is this process that looked
 */
function clear(lock) {
  const clearing = `${lock}.clearing`
  try {
    fs.mkdirSync(clearing)
  } catch {
    if (!isYoung(clearing)) fs.rmSync(clearing, { recursive: true, force: true })
    return false
  }
  if (!ownerLives(lock)) fs.rmSync(lock, { force: true })
  fs.rmdirSync(clearing)
  return true
}

const isYoung = (file) => Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 2000

const children = new Set()
let ending = false

/**
 * Run a program to its end and return its output. Throws StepFailed with the last lines of it.
 * @param {string[]} argv
 * @param {{cwd?: string, env?: Record<string, string>, hint?: string}} options
 * @returns {Promise<string>}
 */
export async function exec([program, ...args], { cwd = root, env = toolEnv(), hint = '' } = {}) {
  if (ending) throw new Ended()
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = (output + chunk).slice(-200_000)))
  const end = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? null : signal ? `ended by ${signal}` : `exit code ${code}`))
  })
  children.delete(child)
  if (ending) throw new Ended()
  if (end === null) return output
  const shown = [path.basename(program), ...args].join(' ')
  throw new StepFailed(`${shown.length > 100 ? `${shown.slice(0, 100)}…` : shown}: ${end}`, { detail: lastLines(output), hint })
}

/** Not a failure of its own: something else made us stop. */
export class Ended extends Error {}

/** End what `exec` still runs, for good: when we are told to stop, and when a step beside it has failed. */
export function endChildren() {
  ending = true
  for (const child of children) child.kill('SIGTERM')
}

function lastLines(text) {
  return text.trimEnd().split('\n').slice(-20).join('\n')
}
