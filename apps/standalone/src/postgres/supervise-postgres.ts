import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningPostgres, startPostgres } from './start-postgres.ts'

export type SupervisedPostgres = {
  /** Resolves with the URL once Postgres accepts connections; the URL stays the same across restarts. */
  url: Promise<string>
  /** Stops Postgres, also while it is starting. */
  stop: () => Promise<void>
}

/**
 * Starts the embedded Postgres and restarts it on the same port when it exits: clients hold its URL.
 * @param print receives one line for the terminal
 */
export function supervisePostgres(
  dir: string,
  onLog: (chunk: Buffer) => void,
  print: (line: string) => void,
): SupervisedPostgres {
  let stopping = false
  let current: Promise<RunningPostgres> = startPostgres({ dir, onLog })
  const url = current.then((server) => {
    void restartOnExit(server)
    return server.url
  })

  async function restartOnExit(server: RunningPostgres): Promise<void> {
    await server.exited
    for (let delay = 500; !stopping; delay = Math.min(delay * 2, 30_000)) {
      print(`postgres exited; restarting in ${delay / 1000} s`)
      await sleep(delay)
      if (stopping) return
      current = startPostgres({ dir, port: Number(new URL(server.url).port), onLog })
      const next = await current.catch((error: Error) => print(error.message))
      if (!next) continue
      void restartOnExit(next)
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
