import { tenantPermissions } from '@muster/core/access'
import { Repeater } from 'graphql-yoga'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { createHeartbeatReader, HEARTBEAT_POLL_MS, type LiveHeartbeat, readHeartbeat } from '../../live-heartbeats.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { Heartbeat } from './types.ts'

/** Batches of changed nodes, at most one per second. A slow consumer gets each node once, in its latest state. */
function follow(context: ApiContext, nodeId: string | undefined, cluster: string | undefined): Repeater<LiveHeartbeat[]> {
  const { ctx, deps } = context
  return new Repeater(async (push, stop) => {
    let isStopped = false
    let wake = () => {}
    let endPause = () => {}
    const pause = () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, HEARTBEAT_POLL_MS)
        endPause = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    const pending = new Map<string, LiveHeartbeat>()
    const enqueue = (heartbeats: LiveHeartbeat[]) => {
      for (const heartbeat of heartbeats)
        if ((!nodeId || heartbeat.nodeId === nodeId) && (!cluster || heartbeat.cluster === cluster))
          pending.set(heartbeat.nodeId, heartbeat)
      if (pending.size > 0) wake()
    }
    const unlisten = createHeartbeatReader(deps.runtime).listen(ctx.tenantId, enqueue)
    void stop.then(() => {
      isStopped = true
      wake()
      endPause()
    })
    try {
      if (nodeId) {
        const current = await readHeartbeat(ctx, nodeId)
        if (!current) return
        enqueue([current])
      }
      while (!isStopped) {
        if (pending.size === 0) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) return
        const batch = [...pending.values()]
        pending.clear()
        await push(batch)
        await pause()
      }
    } finally {
      unlisten()
      stop()
    }
  })
}

builder.subscriptionField('heartbeats', (t) =>
  t.field({
    type: [Heartbeat],
    description:
      'Nodes with a new heartbeat or state, in batches of at most one per second; a batch contains a node at most once. ' +
      'With `nodeId`, the first batch is the current state; the subscription ends if the node has no agent.',
    authScopes: { permission: tenantPermissions.read },
    args: {
      nodeId: t.arg.id({ description: 'Only this node.' }),
      cluster: t.arg.string({ description: 'Only this cluster.' }),
    },
    subscribe: (_root, { nodeId, cluster }, context) =>
      follow(context, rowIdIfGiven('ComputeNode', nodeId) ?? undefined, cluster ?? undefined),
    resolve: (heartbeats) => heartbeats,
  }),
)
