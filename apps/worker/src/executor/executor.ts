import { type ChildProcess, fork } from 'node:child_process'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Report, Request } from './protocol.ts'
import { sendSignal } from './send-signal.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** A program that the executor started, in a process group of its own. */
export type Program = {
  pid: number
  /** The outputs at the descriptors 1, 2, … */
  outputs: Readable[]
  exited: Promise<Exit>
  /** Like `exited`, but waits until all outputs have ended, which other processes may hold open. */
  closed: Promise<Exit>
  kill(signal: NodeJS.Signals): void
}
export type ProgramOptions = { cwd?: string; env?: NodeJS.ProcessEnv; stdin?: string | Uint8Array; outputs?: number }

type Entry = { program: Program | null; report(message: Report): void; lost(): void }

const entries = new Map<number, Entry>()
let lastId = 0
let executor: ChildProcess | null = null

/** Starts the executor on first use, and again after it was killed. */
function connect(): ChildProcess {
  if (executor) return executor
  const child = fork(MAIN, [], {
    env: { PATH: process.env.PATH },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.unref()
  child.channel?.unref()
  child.on('message', (message: Report) => entries.get(message.id)?.report(message))
  child.on('error', () => {})
  child.once('exit', () => {
    if (executor === child) executor = null
    // Programs of a killed executor can no longer report, so they are killed too.
    for (const [id, entry] of [...entries]) {
      if (entry.program) for (const pid of [-entry.program.pid, entry.program.pid]) sendSignal(pid, 'SIGKILL')
      forget(id)
      entry.lost()
    }
  })
  executor = child
  return child
}

const send = (request: Request): void => void (executor?.connected && executor.send(request, () => {}))

function forget(id: number): void {
  entries.delete(id)
  if (entries.size === 0) executor?.channel?.unref()
}

/**
 * Starts a program in the executor process, which has none of the secrets of this process.
 * @param options `env` is the complete environment, by default only PATH; `outputs` is the number of pipes from descriptor 1 on
 * @throws Error of spawn, for example ENOENT
 */
export function startProgram(argv: string[], options: ProgramOptions = {}): Promise<Program> {
  const { cwd, env = { PATH: process.env.PATH }, stdin, outputs: count = 2 } = options
  const [file, ...args] = argv
  const id = ++lastId
  const child = connect()
  child.channel?.ref()
  const onEnd: (() => void)[] = []
  const ends = Array.from({ length: count }, (_, i) => new Promise<void>((resolve) => (onEnd[i] = resolve)))
  const outputs = Array.from(
    { length: count },
    (_, output) =>
      new Readable({
        read: () => send({ type: 'read', id, output }),
        destroy(error, done) {
          send({ type: 'close', id, output })
          done(error)
        },
      }),
  )
  let onExit = (_exit: Exit) => {}
  const exited = new Promise<Exit>((resolve) => (onExit = resolve))
  const closed = Promise.all(ends).then(() => exited)
  void closed.then(() => forget(id))
  const endOutput = (i: number) => {
    if (!outputs[i]!.destroyed) outputs[i]!.push(null)
    onEnd[i]!()
  }
  return new Promise<Program>((resolve, reject) => {
    const entry: Entry = {
      program: null,
      report(message) {
        if (message.type === 'spawned') {
          const kill = (signal: NodeJS.Signals) => send({ type: 'kill', id, signal })
          entry.program = { pid: message.pid, outputs, exited, closed, kill }
          resolve(entry.program)
        } else if (message.type === 'failed') {
          forget(id)
          const { code, path } = message
          reject(Object.assign(new Error(message.message), { code, path }))
        } else if (message.type === 'data') outputs[message.output]!.push(message.chunk)
        else if (message.type === 'end') endOutput(message.output)
        else onExit({ code: message.code, signal: message.signal })
      },
      lost() {
        for (const i of outputs.keys()) endOutput(i)
        onExit({ code: null, signal: 'SIGKILL' })
        reject(new Error(`the executor ended before it started ${file}`))
      },
    }
    entries.set(id, entry)
    child.send({ type: 'spawn', id, file: file!, args, cwd, env, outputs: count, stdin } satisfies Request, (error) => {
      if (error && entries.has(id)) entry.lost()
    })
  })
}

export type Result = Exit & { stdout: string; stderr: string; timedOut: boolean }

/**
 * Runs a program to its end and returns its output.
 * @throws Error of spawn, for example ENOENT
 */
export async function runProgram(
  argv: string[],
  { timeoutMs, ...options }: ProgramOptions & { timeoutMs?: number } = {},
): Promise<Result> {
  const program = await startProgram(argv, options)
  let timedOut = false
  const timer = setTimeout(
    () => {
      timedOut = true
      sendSignal(-program.pid, 'SIGKILL')
    },
    timeoutMs ?? 2 ** 31 - 1,
  )
  try {
    const [stdout = '', stderr = ''] = await Promise.all(program.outputs.map((output) => text(output)))
    return { ...(await program.closed), stdout, stderr, timedOut }
  } finally {
    clearTimeout(timer)
  }
}
