import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { percentile, type Sample } from '../compare.ts'
import { callbackFlood } from '../load/callback.ts'
import { addUnreachableNode, followRun, runJob, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const RATE = 10_000
const LAG_MS = 250
const UNPACED_EVENTS = 50_000
const PACED_S = 5

/** Events of a run from the callback through the database to a subscriber: throughput, and lag at 10,000 events/s. */
export const bench: Bench = async ({ rounds, print, option }) => {
  const unpaced = option('events', UNPACED_EVENTS)
  const rateGoal = option('rate', RATE)
  const dir = mkdtempSync(join(tmpdir(), 'mf-'))
  const flood = callbackFlood(dir)
  const product = await startProduct(flood.env)
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    await addUnreachableNode(api, 'node1')

    const follow = async (events: number, rate: number | null) => {
      flood.set({ events, rate })
      const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
      const lags: number[] = []
      let first = 0
      let last = 0
      let seq = 0
      for await (const batch of followRun(api, id, 0)) {
        const now = Date.now()
        for (const event of batch.events) {
          if (event.seq !== ++seq) throw new Error(`received event ${event.seq} instead of ${seq}`)
          if (event.kind !== 'OK') continue
          const at = Date.parse(event.createdAt)
          first ||= at
          last = now
          lags.push(now - at)
        }
      }
      if (lags.length !== events) throw new Error(`received ${lags.length} of ${events} events`)
      return { perSecond: events / ((last - first) / 1000), lags }
    }
    const throughput: Sample[] = []
    const lag: Sample[] = []
    await follow(rateGoal, null)
    for (let round = 1; round <= rounds; round++) {
      const { perSecond } = await follow(unpaced, null)
      const p99 = percentile((await follow(rateGoal * PACED_S, rateGoal)).lags, 0.99)
      throughput.push({ ours: perSecond, peer: rateGoal })
      lag.push({ ours: p99, peer: LAG_MS })
      print(`round ${round} of ${rounds}: ${Math.round(perSecond)} events/s; at ${rateGoal}/s lag p99 ${p99} ms`)
    }
    return [
      { comparison: { what: 'callback_to_subscriber', unit: 'events/s', kind: 'throughput', goal: 1 }, samples: throughput },
      { comparison: { what: 'lag_p99', unit: 'ms', kind: 'cost', goal: 1 }, samples: lag },
    ]
  } finally {
    await product.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
