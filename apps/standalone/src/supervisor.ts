import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLogFile } from './log-file.ts'
import { forTerminal } from './log-line.ts'
import { handOver, nodeArguments, stdioOf } from './node-arguments.ts'
import { identify, type ProcessIdentity } from './process-identity.ts'
import { root } from './root.ts'
import { waitFor } from './wait.ts'

export type ChildSpec = {
  name: string
  /** A Node program: script and arguments, after Node's own options. */
  argv: string[]
  env: NodeJS.ProcessEnv
  /** Handed over at SECRET_FD, at each start. */
  secret?: string
  /** Asked every 50 ms after each start until it says true. */
  ready: () => boolean | Promise<boolean>
  /** Gets each line of stdout instead of the log file: for what must not be in a log. */
  onLine?: (line: string) => void
}

export type Supervisor = {
  /** Start a child and resolve when it is ready. Rejects with the end of its output when it ends before that. */
  start: (spec: ChildSpec) => Promise<void>
  /** No restarts from here on. SIGTERM to the named children (default: all), SIGKILL to what is left of their process groups after the grace period. */
  stop: (names?: string[]) => Promise<void>
  /** No more patience: SIGKILL to every process group, now. */
  kill: () => void
}

type Options = {
  logDir: string
  /** For the person at the terminal: one line. */
  say: (line: string) => void
  /** Called whenever the set of living processes has changed, with all of them. */
  onChange?: (children: (ProcessIdentity & { name: string })[]) => void
  graceMs?: number
  /** Pause before the first restart; it doubles with each quick one, up to 30 s. */
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
 * Keeps Node processes running: each in a process group of its own (Ctrl-C is for us to pass on), its output in a bounded file,
 * started again when it ends by itself, ended when we are told to, and by itself when we are killed.
 */
export function createSupervisor(options: Options): Supervisor {
  const { logDir, say, onChange, graceMs = 60_000, backoffMs = 500, readyWithinMs = 60_000 } = options
  const children = new Map<string, Child>()
  let stopping = false

  const changed = () =>
    onChange?.([...children.values()].flatMap((c) => (c.identity && !c.ended ? [{ name: c.spec.name, ...c.identity }] : [])))

  function launch(spec: ChildSpec): Child {
    const log = openLogFile(path.join(logDir, `${spec.name}.log`))
    const child: Child = {
      spec,
      process: spawn(process.execPath, nodeArguments(spec.argv), {
        cwd: root,
        env: spec.env,
        stdio: stdioOf(spec.secret),
        detached: true,
      }),
      tail: [],
      ended: false,
      closed: false,
      startedAt: performance.now(),
    }
    handOver(child.process, spec.secret)
    child.identity = child.process.pid ? identify(child.process.pid) : undefined
    children.set(spec.name, child)
    const take = (line: string) => {
      log.write(`${line}\n`)
      child.tail = [...child.tail.slice(-14), line]
      const shown = forTerminal(spec.name, line)
      if (shown) say(shown)
    }
    createInterface({ input: child.process.stdout! }).on('line', spec.onLine ?? take)
    createInterface({ input: child.process.stderr! }).on('line', take)
    const ended = () => {
      signalGroup(child, 'SIGKILL') // what it started and did not end
      child.ended = true
      changed()
    }
    child.process.once('exit', ended)
    child.process.once('error', (error) => {
      take(error.message)
      ended()
    })
    child.process.once('close', () => {
      child.closed = true
      log.close()
    })
    changed()
    return child
  }

  async function untilReady(child: Child): Promise<boolean> {
    const ready = await waitFor(async () => child.ended || (await child.spec.ready()), readyWithinMs, 50)
    return Boolean(ready) && !child.ended
  }

  /** Start it again whenever it ends, until everything is to stop. */
  async function keep(first: Child): Promise<void> {
    let child = first
    for (let quick = 0; ; ) {
      await waitForEnd(child)
      const { name } = child.spec
      if (stopping) return
      quick = performance.now() - child.startedAt > 60_000 ? 0 : quick + 1
      const pause = Math.min(backoffMs * 2 ** Math.max(quick - 1, 0), 30_000)
      say(
        `${name.padEnd(8)} ${howItEnded(child)}; it starts again in ${pause / 1000} s. Its log: ${path.join(logDir, `${name}.log`)}`,
      )
      await sleep(pause)
      if (stopping) return
      child = launch(child.spec)
      void untilReady(child).then((ready) => ready && say(`${name.padEnd(8)} runs again`))
    }
  }

  return {
    start: async (spec) => {
      if (stopping) throw stopped(spec.name)
      const child = launch(spec)
      if (await untilReady(child)) {
        void keep(child)
        return
      }
      if (stopping) throw stopped(spec.name)
      const why = child.ended ? howItEnded(child) : `was not ready within ${readyWithinMs / 1000} s`
      await end([child], 2_000)
      await waitFor(() => child.closed, 1_000) // its last words
      const said = child.tail.length ? `The end of its output:\n${child.tail.join('\n')}` : 'It said nothing.'
      throw new Error(`${spec.name} ${why}. ${said}`)
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

/** Not a failure of its own. */
function stopped(name: string): Error {
  return Object.assign(new Error(`${name} was not started: everything is being stopped.`), { name: 'AbortError' })
}

async function end(children: Child[], graceMs: number): Promise<void> {
  for (const child of children) if (!child.ended) child.process.kill('SIGTERM')
  await waitFor(() => children.every((child) => child.ended), graceMs)
  for (const child of children) if (!child.ended) signalGroup(child, 'SIGKILL')
  await Promise.all(children.map(waitForEnd))
}

/** For a child that lives or has this moment ended: later its number may be another's. */
function signalGroup(child: Child, signal: NodeJS.Signals): void {
  if (!child.process.pid) return
  try {
    process.kill(-child.process.pid, signal)
  } catch {
    // the group is empty
  }
}

async function waitForEnd(child: Child): Promise<void> {
  if (!child.ended)
    await new Promise<void>((resolve) => child.process.once('exit', () => resolve()).once('error', () => resolve()))
}

function howItEnded({ process: { exitCode, signalCode } }: Child): string {
  return signalCode ? `was ended by ${signalCode}` : `ended with exit code ${exitCode}`
}
