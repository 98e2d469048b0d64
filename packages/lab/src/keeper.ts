import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { plainEnv } from './commands.ts'
import { type ProcessRef, refTo } from './registry.ts'

/** The running keeper of a lab: send verbs, await its news. */
export interface Keeper {
  /** The process that was started and the one that said `ready` (PID 1 of the lab's pid namespace), as the host counts. */
  refs: [ProcessRef, ProcessRef]
  /** Sends a verb and resolves with the first line that the expected words begin. Throws when a `failed` line or the end comes first. */
  ask(verb: string, ...answers: string[]): Promise<void>
  /** Lets the owner's event loop end while the lab runs: an owner that ends takes the lab with it. */
  release(): void
  ended: Promise<void>
}

/**
 * Starts a lab's keeper, which says `ready PID` first. It must end when its stdin does: that is how it dies with this
 * process, whatever ends it.
 */
export async function startKeeper(argv: string[]): Promise<Keeper> {
  const child = spawn(argv[0]!, argv.slice(1), { env: plainEnv, cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const news = listen(child)
  const ready = await news.next((line) => line.startsWith('ready '))
  return {
    refs: [refTo(child.pid!), refTo(Number(ready.split(' ')[1]))],
    ended: news.ended,
    release() {
      child.unref()
      for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref()
    },
    ask(verb, ...answers) {
      const waiting = Promise.all(answers.map((answer) => news.next((line) => line === answer || line.startsWith(`${answer} `))))
      // A caller that fails before it awaits this must not be overtaken by an unhandled rejection.
      waiting.catch(() => {})
      child.stdin!.write(`${verb}\n`)
      return waiting.then(() => {})
    },
  }
}

function listen(child: ChildProcess) {
  let said = ''
  let over: Error | null = null
  const waiting = new Set<{ wants: (line: string) => boolean; resolve: (line: string) => void; reject: (error: Error) => void }>()
  const fail = (message: string) => {
    over = new Error(`The lab's keeper ${message}${said ? `: ${said.trim()}` : '.'}`)
    for (const waiter of waiting) waiter.reject(over)
    waiting.clear()
  }
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)))
  child.stdin!.on('error', () => {})
  createInterface({ input: child.stdout! }).on('line', (line) => {
    // A reboot (129) or a power-off (130) is an order; any other end of a node is a failure to boot.
    if (line.endsWith('-failed') || (line.startsWith('down ') && !/ (129|130)$/.test(line))) fail(`reported "${line}"`)
    for (const waiter of waiting) {
      if (!waiter.wants(line)) continue
      waiting.delete(waiter)
      waiter.resolve(line)
    }
  })
  const ended = new Promise<void>((resolve) => {
    child.on('error', (error) => fail(`could not be started (${error.message})`))
    child.on('close', (code, signal) => {
      fail(`ended with ${signal ?? code}`)
      resolve()
    })
  })
  return {
    ended,
    next: (wants: (line: string) => boolean) =>
      new Promise<string>((resolve, reject) => {
        if (over) reject(over)
        else waiting.add({ wants, resolve, reject })
      }),
  }
}
