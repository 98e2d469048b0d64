import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { cleanEnv } from './commands.ts'
import { identify, type ProcessRef } from './registry.ts'

/** A lab's running supervisor process. */
export interface Supervisor {
  /** The started process and the one that printed `ready` (PID 1 of the lab's pid namespace), with pids of the host. */
  processes: [ProcessRef, ProcessRef]
  /** Sends a command and resolves when a line starts with each expected reply. Rejects on a failure line or exit. */
  send(command: string, ...replies: string[]): Promise<void>
  /** Lets the owner's event loop end while the lab runs. An owner that exits stops its lab. */
  unref(): void
  ended: Promise<void>
}

/** Starts a lab's supervisor, which prints `ready PID` first. It exits when its stdin closes, and therefore with this process. */
export async function startSupervisor(argv: string[]): Promise<Supervisor> {
  const child = spawn(argv[0]!, argv.slice(1), { env: cleanEnv, cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const output = readOutput(child)
  const ready = await output.next((line) => line.startsWith('ready '))
  return {
    processes: [identify(child.pid!), identify(Number(ready.split(' ')[1]))],
    ended: output.ended,
    unref() {
      child.unref()
      for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref()
    },
    send(command, ...replies) {
      const received = Promise.all(replies.map((reply) => output.next((line) => line === reply || line.startsWith(`${reply} `))))
      // The caller may fail before it awaits this; that must not cause an unhandled rejection.
      received.catch(() => {})
      child.stdin!.write(`${command}\n`)
      return received.then(() => {})
    },
  }
}

function readOutput(child: ChildProcess) {
  let stderr = ''
  let failure: Error | null = null
  const waiting = new Set<{
    matches: (line: string) => boolean
    resolve: (line: string) => void
    reject: (error: Error) => void
  }>()
  const fail = (message: string) => {
    failure = new Error(`The lab's supervisor ${message}${stderr ? `: ${stderr.trim()}` : '.'}`)
    for (const waiter of waiting) waiter.reject(failure)
    waiting.clear()
  }
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-4000)))
  child.stdin!.on('error', () => {})
  createInterface({ input: child.stdout! }).on('line', (line) => {
    // 129 is a reboot and 130 a power-off; a node that exits with another code has failed to boot.
    if (line.endsWith('-failed') || (line.startsWith('down ') && !/ (129|130)$/.test(line))) fail(`reported "${line}"`)
    for (const waiter of waiting) {
      if (!waiter.matches(line)) continue
      waiting.delete(waiter)
      waiter.resolve(line)
    }
  })
  const ended = new Promise<void>((resolve) => {
    child.on('error', (error) => fail(`could not be started (${error.message})`))
    child.on('close', (code, signal) => {
      fail(`exited with ${signal ?? code}`)
      resolve()
    })
  })
  return {
    ended,
    next: (matches: (line: string) => boolean) =>
      new Promise<string>((resolve, reject) => {
        if (failure) reject(failure)
        else waiting.add({ matches, resolve, reject })
      }),
  }
}
