import { systemCtx } from '@muster/core/context'
import { type NodeRejections, recordRejections } from '@muster/core/heartbeats'
import type { Runtime } from '@muster/core/registry'
import type { Rejection } from '@muster/protocol'
import { createUnverifiedLimit } from './unverified-limit.ts'

const EVERY_MS = 1000
/** Nodes per statement; further ones are recorded with their next rejection. */
const MAX_NODES = 5000

/** Who sent the heartbeat: a holder of a key of the node, or anybody who knows its name. */
type Sender = 'signer' | 'anybody'

/** Collects rejections and records them once a second, so that many rejected heartbeats cost one statement. */
export function createRejectionRecorder(
  runtime: Runtime,
  record: (rejections: NodeRejections[]) => Promise<void> = (rejections) => recordRejections(systemCtx(runtime), rejections),
): (nodeId: string, rejection: Rejection, sender: Sender) => void {
  const waiting = new Map<string, NodeRejections>()
  const limit = createUnverifiedLimit()
  let isDue = false
  async function flush(): Promise<void> {
    isDue = false
    const rejections = [...waiting.values()]
    waiting.clear()
    try {
      await record(rejections)
    } catch (error) {
      runtime.log.warn({ err: error, nodes: rejections.length }, 'cannot record rejected heartbeats')
    }
  }
  return (nodeId, { code, message }, sender) => {
    const count = sender === 'signer' ? 1 : limit(nodeId)
    const before = waiting.get(nodeId)
    if (count === 0 || (!before && waiting.size >= MAX_NODES)) return
    waiting.set(nodeId, { nodeId, code, message, count: (before?.count ?? 0) + count })
    if (!isDue) setTimeout(() => void flush(), EVERY_MS).unref()
    isDue = true
  }
}
