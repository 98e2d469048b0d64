import type { Ctx } from '@muster/core/context'
import { recordDiscoveryOfRun } from '@muster/core/discoveries'
import type { RunPlan } from '../inventory/plan-run.ts'

const CONCURRENCY = 4

export type EvidenceRecorder = { record(host: string, text: string): Promise<void>; drain(): Promise<void> }

/** Turns the probe output in results of `collect_facts` into discoveries, a few at a time. */
export function createEvidenceRecorder(ctx: Ctx, plan: RunPlan): EvidenceRecorder {
  const nodeIds = new Map(plan.targets.map((target) => [target.name, target.nodeId]))
  const pending = new Set<Promise<void>>()
  return {
    /** Callers await it before reading more, so that a thousand probe outputs are never in memory at once. */
    async record(host, text) {
      const nodeId = nodeIds.get(host)
      if (!nodeId) return
      const recording = recordDiscoveryOfRun(ctx, { nodeId, evidence: Buffer.from(text) })
        .then(() => {})
        .catch((err) => ctx.log.warn({ err, host }, 'could not record the discovery of a run'))
        .finally(() => pending.delete(recording))
      pending.add(recording)
      if (pending.size >= CONCURRENCY) await Promise.race(pending)
    },
    async drain() {
      await Promise.all(pending)
    },
  }
}
