import type { Ctx } from '@muster/core/context'
import { recordNodeSeen, recordNodesUnreachable, testConnections } from '@muster/core/nodes'
import type { HostStates } from './host-states.ts'
import type { RunPlan } from './plan-run.ts'

/** Tell what a run has shown about its nodes: who answered, who did not. */
export async function reportNodes(ctx: Ctx, plan: RunPlan, states: HostStates): Promise<void> {
  const unreachable = states.all().filter((state) => state.result === 'UNREACHABLE')
  const lost = new Map(unreachable.map((state) => [state.name, state.message ?? 'A run could not reach it.']))
  const targets = plan.targets.filter((target) => target.machine)
  const nodesOf = (isWanted: (name: string) => boolean) => targets.filter((t) => isWanted(t.name)).map((t) => t.nodeId)
  try {
    await recordNodeSeen(ctx, { nodeIds: nodesOf((name) => states.seen.has(name) && !lost.has(name)) })
    await recordNodesUnreachable(
      ctx,
      targets.flatMap(({ name, nodeId }) => (lost.has(name) ? [{ nodeId, reason: lost.get(name)! }] : [])),
    )
    // ssh says only that the key is another one. A connection test sees the key itself and raises the alarm with it.
    const changed = nodesOf((name) => /host key verification failed|HOST IDENTIFICATION HAS CHANGED/i.test(lost.get(name) ?? ''))
    if (changed.length > 0) await testConnections(ctx, { nodeIds: changed })
  } catch (err) {
    ctx.log.warn({ err }, 'could not record what a run showed about its nodes')
  }
}
