import { Repeater } from 'graphql-yoga'
import { BEAT_MS, beatReader, type LiveBeat, readBeat } from '../../agents-live.ts'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { Heartbeat } from './types.ts'

/** How often it is asked whether the session still stands. */
const ASK_MS = 10_000

/** What the process's reader tells, at most once a second and each node once at a time, however slowly it is consumed. */
function follow(context: ApiContext, nodeId: string | undefined, cluster: string | undefined): Repeater<LiveBeat[]> {
  const { ctx, deps } = context
  return new Repeater(async (push, stop) => {
    let isStopped = false
    let wake = () => {}
    let skipRetries = () => {}
    const pause = () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, BEAT_MS)
        skipRetries = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    const pending = new Map<string, LiveBeat>()
    const take = (beats: LiveBeat[]) => {
      for (const beat of beats)
        if ((!nodeId || beat.nodeId === nodeId) && (!cluster || beat.cluster === cluster)) pending.set(beat.nodeId, beat)
      if (pending.size > 0) wake()
    }
    const off = beatReader(deps.runtime).listen(ctx.tenantId, take)
    void stop.then(() => {
      isStopped = true
      wake()
      skipRetries()
    })
    try {
      if (nodeId) {
        const now = await readBeat(deps.runtime, ctx.tenantId, nodeId)
        if (!now) return
        take([now])
      }
      let askedAt = Date.now()
      while (!isStopped) {
        if (pending.size === 0) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) return
        if (Date.now() - askedAt > ASK_MS) {
          await context.stillSignedIn()
          askedAt = Date.now()
        }
        const beats = [...pending.values()]
        pending.clear()
        await push(beats)
        await pause()
      }
    } finally {
      off()
      stop()
    }
  })
}

builder.subscriptionField('heartbeats', (t) =>
  t.field({
    type: [Heartbeat],
    description:
      'Nodes as they are heard or change their state, gathered for a second, each at most once: with `nodeId` first as it is now. ' +
      'Ends at once when there is no such node with an agent.',
    authScopes: { authenticated: true },
    args: {
      nodeId: t.arg.id({ description: 'Which node; left out: all.' }),
      clusterId: t.arg.string({ description: 'Only of this cluster, as agents call it.' }),
    },
    subscribe: (_root, { nodeId, clusterId }, context) =>
      follow(context, rowIdIfGiven('ComputeNode', nodeId) ?? undefined, clusterId ?? undefined),
    resolve: (beats) => beats,
  }),
)
