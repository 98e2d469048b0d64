import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningPostgres, startPostgres } from './postgres.ts'

export type KeptPostgres = {
  /** Resolves with its address when it first takes connections; the address stays the same over restarts. */
  url: Promise<string>
  /** Ends it, also while it is still starting. */
  stop: () => Promise<void>
}

/**
 * The embedded Postgres, started again on the same port when it ends by itself: others hold its address.
 * @param say one line for the person at the terminal
 */
export function keepPostgres(dir: string, onLog: (chunk: Buffer) => void, say: (line: string) => void): KeptPostgres {
  let stopping = false
  let current: Promise<RunningPostgres> = startPostgres({ dir, onLog })
  const url = current.then((server) => {
    void keep(server)
    return server.url
  })

  async function keep(server: RunningPostgres): Promise<void> {
    await server.exited
    for (let pause = 500; !stopping; pause = Math.min(pause * 2, 30_000)) {
      say(`postgres ended by itself; it starts again in ${pause / 1000} s`)
      await sleep(pause)
      if (stopping) return
      current = startPostgres({ dir, port: Number(new URL(server.url).port), onLog })
      const next = await current.catch((error: Error) => say(error.message))
      if (!next) continue
      void keep(next)
      return
    }
  }

  return {
    url,
    stop: async () => {
      stopping = true
      const server = await current.catch(() => undefined)
      await server?.stop()
    },
  }
}
