import { testConnections } from '@muster/core/connections'
import type { Ctx } from '@muster/core/context'
import { recordNodeSeen, recordNodesUnreachable } from '@muster/core/nodes'
import type { RunPlan } from './inventory/plan-run.ts'
import type { HostStates } from './output/host-states.ts'

/** Records which nodes a run could reach and which not. */
export async function recordReachability(ctx: Ctx, plan: RunPlan, states: HostStates): Promise<void> {
  const unreachable = states.all().filter((state) => state.result === 'UNREACHABLE')
  const unreachableReasons = new Map(unreachable.map((state) => [state.name, state.message ?? 'A run could not reach it.']))
  const targets = plan.targets.filter((target) => target.machine)
  const nodesOf = (isWanted: (name: string) => boolean) => targets.filter((t) => isWanted(t.name)).map((t) => t.nodeId)
  try {
    await recordNodeSeen(ctx, { nodeIds: nodesOf((name) => states.seen.has(name) && !unreachableReasons.has(name)) })
    await recordNodesUnreachable(
      ctx,
      targets.flatMap(({ name, nodeId }) =>
        unreachableReasons.has(name) ? [{ nodeId, reason: unreachableReasons.get(name)! }] : [],
      ),
    )
    // SSH reports only that the key differs, and of a bastion not even that: it discards what the connection to a bastion prints. A
    // connection test names the reason, reads the key itself and raises the alarm.
    const unexplained = nodesOf((name) =>
      /host key verification failed|HOST IDENTIFICATION HAS CHANGED|closed by UNKNOWN port/i.test(
        unreachableReasons.get(name) ?? '',
      ),
    )
    if (unexplained.length > 0) await testConnections(ctx, { nodeIds: unexplained })
  } catch (err) {
    ctx.log.warn({ err }, 'could not record the reachability of nodes')
  }
}
