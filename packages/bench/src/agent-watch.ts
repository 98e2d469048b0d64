import type { Client } from './client.ts'

const PATIENCE_MS = 120_000

export type Alert = { id: string; kind: string; count: number; resolvedAt: string | null; node: { name: string } | null }

/** What two subscriptions have told so far. */
export type Watch = {
  /** By the node's name: the states of its agent, in their order. */
  states: ReadonlyMap<string, string[]>
  /** By their ids, as they are now. */
  alerts: ReadonlyMap<string, Alert>
  /** Resolves when what was told makes `check` true. @throws Error after two minutes, or when a subscription ends */
  until(what: string, check: () => boolean): Promise<void>
  stop(): Promise<void>
}

/** Follow all agents and all alerts live. */
export function watchAgents(api: Client): Watch {
  const states = new Map<string, string[]>()
  const alerts = new Map<string, Alert>()
  const end = new AbortController()
  let failure: Error | null = null
  let wake = () => {}
  const follow = async <T>(query: string, take: (data: T) => void) => {
    try {
      for await (const data of api.subscribe<T>(query, {}, end.signal)) {
        take(data)
        wake()
      }
      if (!end.signal.aborted) throw new Error(`The API ended: ${query}`)
    } catch (error) {
      failure = error as Error
      wake()
    }
  }
  const following = [
    follow<{ heartbeats: { name: string; state: string }[] }>('subscription { heartbeats { name state } }', ({ heartbeats }) => {
      for (const { name, state } of heartbeats) {
        const seen = states.get(name) ?? []
        states.set(name, seen.at(-1) === state ? seen : [...seen, state])
      }
    }),
    follow<{ alertUpdated: Alert }>(
      'subscription { alertUpdated { id kind count resolvedAt node { name } } }',
      ({ alertUpdated }) => void alerts.set(alertUpdated.id, alertUpdated),
    ),
  ]
  return {
    states,
    alerts,
    async until(what, check) {
      const deadline = AbortSignal.timeout(PATIENCE_MS)
      deadline.addEventListener('abort', () => wake())
      while (!check()) {
        if (failure) throw failure
        if (deadline.aborted)
          throw new Error(
            `Waited ${PATIENCE_MS / 1000} s for ${what}, in vain: ${JSON.stringify([[...states], [...alerts.values()]])}`,
          )
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    async stop() {
      end.abort()
      await Promise.all(following)
    },
  }
}
