import type { Ctx } from '@muster/core/context'
import { recordDiscoveryOfRun } from '@muster/core/nodes'
import type { RunPlan } from './plan-run.ts'

const AT_ONCE = 4

export type Evidence = { keep(host: string, text: string): Promise<void>; settled(): Promise<void> }

/** Takes the probe's output from the results of `collect_facts` and makes discoveries of it, a few at a time. */
export function keepEvidence(ctx: Ctx, plan: RunPlan): Evidence {
  const nodeIds = new Map(plan.targets.map((target) => [target.name, target.nodeId]))
  const underWay = new Set<Promise<void>>()
  return {
    /** Await it before reading on: a thousand probes must not lie in memory at once. */
    async keep(host, text) {
      const nodeId = nodeIds.get(host)
      if (!nodeId) return
      const kept = recordDiscoveryOfRun(ctx, { nodeId, evidence: Buffer.from(text) })
        .then(() => {})
        .catch((err) => ctx.log.warn({ err, host }, 'could not keep what the probe found'))
        .finally(() => underWay.delete(kept))
      underWay.add(kept)
      if (underWay.size >= AT_ONCE) await Promise.race(underWay)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}
