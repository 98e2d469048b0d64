// The executor: the process that starts ansible-playbook, git and ssh for a worker. It has neither the database's address nor the
// master password: the worker, its broker, starts it with an empty environment and sends each program with its arguments over a
// socket pair. Secrets of a run reach its programs over sockets that the broker serves.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Report, Request, SpawnRequest } from './protocol.ts'

type Running = { child: ChildProcess; reads: Map<number, () => void> }

const running = new Map<number, Running>()

const report = (message: Report): void => {
  if (process.connected) process.send!(message)
}

function start({ id, file, args, cwd, env, outputs, stdin }: SpawnRequest): void {
  const pipes = Array.from({ length: outputs }, () => 'pipe' as const)
  const ignored = Array.from({ length: Math.max(0, 2 - outputs) }, () => 'ignore' as const)
  const child = spawn(file, args, {
    cwd,
    env,
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', ...pipes, ...ignored],
  })
  const one: Running = { child, reads: new Map() }
  running.set(id, one)
  child.once('spawn', () => report({ type: 'spawned', id, pid: child.pid! }))
  child.on('error', (error: NodeJS.ErrnoException) => {
    if (child.pid !== undefined) return
    running.delete(id)
    report({ type: 'failed', id, code: error.code ?? '', path: error.path ?? file, message: error.message })
  })
  // A program may exit before it has read its input.
  child.stdin?.on('error', () => {}).end(stdin)
  const ends = pipes.map((_, i) => forward(id, i, child.stdio[i + 1] as Readable, one))
  const exit = new Promise<void>((resolve) =>
    child.once('exit', (code, signal) => {
      report({ type: 'exit', id, code, signal })
      resolve()
    }),
  )
  void Promise.all([exit, ...ends]).then(() => running.delete(id))
}

/** Sends one chunk per request, so that a slow broker slows the program down. */
async function forward(id: number, output: number, stream: Readable, { reads }: Running): Promise<void> {
  const requested = () => new Promise<void>((resolve) => reads.set(output, resolve))
  try {
    let next = requested()
    for await (const chunk of stream) {
      await next
      next = requested()
      report({ type: 'data', id, output, chunk })
    }
  } catch {
    // The broker closed the output.
  }
  report({ type: 'end', id, output })
}

process.on('message', (request: Request) => {
  if (request.type === 'spawn') return start(request)
  const one = running.get(request.id)
  if (request.type === 'kill') one?.child.kill(request.signal)
  if (request.type === 'read') one?.reads.get(request.output)?.()
  if (request.type === 'close') {
    ;(one?.child.stdio[request.output + 1] as Readable | undefined)?.destroy()
    one?.reads.get(request.output)?.()
  }
})
// Ctrl-C signals the whole process group, but the broker decides when its runs end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit(0))
