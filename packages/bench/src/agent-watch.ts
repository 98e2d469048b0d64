import type { Client } from './client.ts'
import { ALERT_UPDATED, HEARTBEATS } from './documents.ts'
import type { ResultOf, TadaDocumentNode } from './graphql.ts'

const TIMEOUT_MS = 120_000

export type Alert = ResultOf<typeof ALERT_UPDATED>['alertUpdated']['alert']

/** What the subscriptions to heartbeats and alerts have reported so far. */
export type Watch = {
  /** By node name: the states of its agent, in order. */
  states: ReadonlyMap<string, string[]>
  /** By id, in their newest version. */
  alerts: ReadonlyMap<string, Alert>
  /** Resolves when `check` is true. @throws Error after two minutes, or when a subscription ends */
  until(condition: string, check: () => boolean): Promise<void>
  stop(): Promise<void>
}

/** Subscribes to the heartbeats of all agents and to all alerts. */
export function watchAgents(api: Client): Watch {
  const states = new Map<string, string[]>()
  const alerts = new Map<string, Alert>()
  const end = new AbortController()
  let failure: Error | null = null
  let wake = () => {}
  const follow = async <T>(document: TadaDocumentNode<T, Record<string, never>>, apply: (data: T) => void) => {
    try {
      for await (const data of api.subscribe(document, {}, end.signal)) {
        apply(data)
        wake()
      }
      if (!end.signal.aborted) throw new Error('The API completed a subscription that has no end')
    } catch (error) {
      failure = error as Error
      wake()
    }
  }
  const following = [
    follow(HEARTBEATS, ({ heartbeats }) => {
      for (const { name, state } of heartbeats) {
        const seen = states.get(name) ?? []
        states.set(name, seen.at(-1) === state ? seen : [...seen, state])
      }
    }),
    follow(ALERT_UPDATED, ({ alertUpdated }) => void alerts.set(alertUpdated.alert.id, alertUpdated.alert)),
  ]
  return {
    states,
    alerts,
    async until(condition, check) {
      const deadline = AbortSignal.timeout(TIMEOUT_MS)
      deadline.addEventListener('abort', () => wake())
      while (!check()) {
        if (failure) throw failure
        if (deadline.aborted)
          throw new Error(
            `Not within ${TIMEOUT_MS / 1000} s: ${condition}. Last: ${JSON.stringify([[...states], [...alerts.values()]])}`,
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
