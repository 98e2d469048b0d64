import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatLogLine } from './format-log-line.ts'
import { openLogFile } from './log-file.ts'
import { nodeArguments, stdioFor, writeSecret } from './node-child.ts'
import { identify, type ProcessIdentity } from './process-identity.ts'
import { root } from './root.ts'
import { waitFor } from './wait.ts'

export type ChildSpec = {
  name: string
  /** Node options, script and arguments. */
  argv: string[]
  env: NodeJS.ProcessEnv
  /** Written to SECRET_FD at each start. */
  secret?: string
  /** Polled every 50 ms after each start until it returns true. */
  ready: () => boolean | Promise<boolean>
  /** Receives each stdout line instead of the log file, for output that must not be logged. */
  onLine?: (line: string) => void
}

export type Supervisor = {
  /** Starts a child and resolves when it is ready. Rejects with the last lines of its output when it exits before that. */
  start: (spec: ChildSpec) => Promise<void>
  /** Disables restarts. Sends SIGTERM to the named children (default: all), and SIGKILL to their process groups after the grace period. */
  stop: (names?: string[]) => Promise<void>
  /** Sends SIGKILL to every process group immediately. */
  kill: () => void
}

type Options = {
  logDir: string
  /** Receives one line for the terminal. */
  print: (line: string) => void
  /** Receives all live children whenever that set changes. */
  onChange?: (children: (ProcessIdentity & { name: string })[]) => void
  graceMs?: number
  /** Delay before the first restart. Doubles while the child exits within a minute, up to 30 s. */
  backoffMs?: number
  readyWithinMs?: number
}

type Child = {
  spec: ChildSpec
  process: ChildProcess
  identity?: ProcessIdentity
  tail: string[]
  ended: boolean
  closed: boolean
  startedAt: number
}

/**
 * Supervises Node processes. Each has its own process group, so that Ctrl-C reaches only the supervisor, and a bounded log file.
 * A child that exits is restarted. Children exit by themselves when the supervisor is killed.
 */
export function createSupervisor(options: Options): Supervisor {
  const { logDir, print, onChange, graceMs = 60_000, backoffMs = 500, readyWithinMs = 60_000 } = options
  const children = new Map<string, Child>()
  let stopping = false

  const emitChange = () =>
    onChange?.([...children.values()].flatMap((c) => (c.identity && !c.ended ? [{ name: c.spec.name, ...c.identity }] : [])))

  function launch(spec: ChildSpec): Child {
    const log = openLogFile(path.join(logDir, `${spec.name}.log`))
    const child: Child = {
      spec,
      process: spawn(process.execPath, nodeArguments(spec.argv), {
        cwd: root,
        env: spec.env,
        stdio: stdioFor(spec.secret),
        detached: true,
      }),
      tail: [],
      ended: false,
      closed: false,
      startedAt: performance.now(),
    }
    writeSecret(child.process, spec.secret)
    child.identity = child.process.pid ? identify(child.process.pid) : undefined
    children.set(spec.name, child)
    const record = (line: string) => {
      log.write(`${line}\n`)
      child.tail = [...child.tail.slice(-14), line]
      const formatted = formatLogLine(spec.name, line)
      if (formatted) print(formatted)
    }
    createInterface({ input: child.process.stdout! }).on('line', spec.onLine ?? record)
    createInterface({ input: child.process.stderr! }).on('line', record)
    const onExit = () => {
      signalGroup(child, 'SIGKILL') // descendants that are still running
      child.ended = true
      emitChange()
    }
    child.process.once('exit', onExit)
    child.process.once('error', (error) => {
      record(error.message)
      onExit()
    })
    child.process.once('close', () => {
      child.closed = true
      log.close()
    })
    emitChange()
    return child
  }

  async function waitUntilReady(child: Child): Promise<boolean> {
    const ready = await waitFor(async () => child.ended || (await child.spec.ready()), readyWithinMs, 50)
    return Boolean(ready) && !child.ended
  }

  /** Restarts a child whenever it exits, until the supervisor stops. */
  async function restartOnExit(first: Child): Promise<void> {
    let child = first
    for (let quickExits = 0; ; ) {
      await waitForExit(child)
      const { name } = child.spec
      if (stopping) return
      quickExits = performance.now() - child.startedAt > 60_000 ? 0 : quickExits + 1
      const delay = Math.min(backoffMs * 2 ** Math.max(quickExits - 1, 0), 30_000)
      print(`${name.padEnd(8)} ${describeExit(child)}; restarting in ${delay / 1000} s. Log: ${path.join(logDir, `${name}.log`)}`)
      await sleep(delay)
      if (stopping) return
      child = launch(child.spec)
      void waitUntilReady(child).then((ready) => ready && print(`${name.padEnd(8)} restarted`))
    }
  }

  return {
    start: async (spec) => {
      if (stopping) throw abortedStart(spec.name)
      const child = launch(spec)
      if (await waitUntilReady(child)) {
        void restartOnExit(child)
        return
      }
      if (stopping) throw abortedStart(spec.name)
      const reason = child.ended ? describeExit(child) : `was not ready within ${readyWithinMs / 1000} s`
      await end([child], 2_000)
      await waitFor(() => child.closed, 1_000) // its remaining output
      const output = child.tail.length ? `Last lines of its output:\n${child.tail.join('\n')}` : 'It printed nothing.'
      throw new Error(`${spec.name} ${reason}. ${output}`)
    },
    stop: async (names = [...children.keys()]) => {
      stopping = true
      await end(
        names.flatMap((name) => children.get(name) ?? []),
        graceMs,
      )
    },
    kill: () => {
      stopping = true
      for (const child of children.values()) if (!child.ended) signalGroup(child, 'SIGKILL')
    },
  }
}

/** An AbortError: the start was interrupted, it did not fail. */
function abortedStart(name: string): Error {
  return Object.assign(new Error(`${name} was not started: Muster is stopping.`), { name: 'AbortError' })
}

async function end(children: Child[], graceMs: number): Promise<void> {
  for (const child of children) if (!child.ended) child.process.kill('SIGTERM')
  await waitFor(() => children.every((child) => child.ended), graceMs)
  for (const child of children) if (!child.ended) signalGroup(child, 'SIGKILL')
  await Promise.all(children.map(waitForExit))
}

/** Only for a child that is alive or has just exited: its pid may be reused later. */
function signalGroup(child: Child, signal: NodeJS.Signals): void {
  if (!child.process.pid) return
  try {
    process.kill(-child.process.pid, signal)
  } catch {
    // the group is empty
  }
}

async function waitForExit(child: Child): Promise<void> {
  if (!child.ended)
    await new Promise<void>((resolve) => child.process.once('exit', () => resolve()).once('error', () => resolve()))
}

function describeExit({ process: { exitCode, signalCode } }: Child): string {
  return signalCode ? `was killed by ${signalCode}` : `exited with code ${exitCode}`
}
