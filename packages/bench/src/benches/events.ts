import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { percentile, type Sample } from '../compare.ts'
import { addSilentNode, followRun, runJob, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'
import { callbackFlood } from '../stand-ins/callback.ts'

const RATE = 10_000
const LAG_MS = 250
const FLAT_OUT = 50_000
const PACED_S = 5

/** What a run says, from the callback by way of its row to a subscriber: how many events a second, and how late at 10,000 a second. */
export const bench: Bench = async ({ rounds, say }) => {
  const dir = mkdtempSync(join(tmpdir(), 'mf-'))
  const flood = callbackFlood(dir)
  const product = await startProduct(flood.env)
  try {
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    await addSilentNode(api, 'node1')

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
          if (event.seq !== ++seq) throw new Error(`event ${event.seq} came in the place of ${seq}`)
          if (event.kind !== 'ok') continue
          const at = Date.parse(event.createdAt)
          first ||= at
          last = now
          lags.push(now - at)
        }
      }
      if (lags.length !== events) throw new Error(`${lags.length} of ${events} events came`)
      return { perSecond: events / ((last - first) / 1000), lags }
    }
    const throughput: Sample[] = []
    const lag: Sample[] = []
    await follow(RATE, null)
    for (let round = 1; round <= rounds; round++) {
      const { perSecond } = await follow(FLAT_OUT, null)
      const p99 = percentile((await follow(RATE * PACED_S, RATE)).lags, 0.99)
      throughput.push({ ours: perSecond, peer: RATE })
      lag.push({ ours: p99, peer: LAG_MS })
      say(`round ${round} of ${rounds}: ${Math.round(perSecond)} events/s; at ${RATE}/s p99 ${p99} ms late`)
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
