const EVERY_MS = 60_000
const MAX_PER_SECOND = 50
/** More nodes than are recorded in EVERY_MS. */
const MAX_NODES = 5000

/**
 * Limits records of heartbeats without a valid signature, which anybody can send: each node once a minute, and few nodes a second. The
 * function returns how many heartbeats of the node to record now; 0 for none.
 */
export function createUnverifiedLimit(): (nodeId: string) => number {
  /** By the time of the last record, oldest first, with the number of heartbeats since then. */
  const nodes = new Map<string, { at: number; count: number }>()
  let second = { from: 0, count: 0 }
  return (nodeId) => {
    const now = Date.now()
    const last = nodes.get(nodeId)
    if (last && now - last.at < EVERY_MS) {
      last.count++
      return 0
    }
    if (now - second.from >= 1000) second = { from: now, count: 0 }
    if (second.count >= MAX_PER_SECOND) return 0
    second.count++
    nodes.delete(nodeId)
    nodes.set(nodeId, { at: now, count: 0 })
    if (nodes.size > MAX_NODES) nodes.delete(nodes.keys().next().value!)
    return (last?.count ?? 0) + 1
  }
}
