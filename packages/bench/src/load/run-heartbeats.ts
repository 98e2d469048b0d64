import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const LOAD = fileURLToPath(new URL('./heartbeat-load.ts', import.meta.url))

export type Load = { ms: number; answers: Record<string, number>; p99: number; bytes: number }

/** Starts heartbeat-load.ts, which signs its heartbeats; `go` sends them. */
export async function startLoad(...args: (string | number)[]): Promise<{ go(): Promise<Load> }> {
  // Pinned to one core, so the scheduler moves it less between the measured processes.
  const last = String(availableParallelism() - 1)
  const child = spawn('taskset', ['-c', last, process.execPath, LOAD, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the load process ended early')
    return value
  }
  await next()
  return {
    async go() {
      child.stdin.write('go\n')
      const result = JSON.parse(await next()) as Load
      if (child.exitCode === null) await once(child, 'exit')
      return result
    },
  }
}
