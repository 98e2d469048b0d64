import type { AgentState, FleetCluster, HeartbeatUpdate } from './documents.ts'

/** Agent states in display order. */
export const agentStates = [
  'ACTIVE',
  'STALE',
  'OFFLINE',
  'DRAINING',
  'DRAINED',
  'PENDING',
  'DEREGISTERED',
] as const satisfies readonly AgentState[]

export type Counts = Record<AgentState, number>

/** Counts nodes by state. */
export function countStates(clusters: readonly Pick<FleetCluster, 'nodes'>[]): Counts {
  const counts = Object.fromEntries(agentStates.map((state) => [state, 0])) as Counts
  for (const { nodes } of clusters) for (const { state } of nodes) counts[state]++
  return counts
}

/** Applies heartbeats to the fleet. `isComplete` is false when a node is not in it yet; the caller must then refetch the fleet. */
export function applyHeartbeats(fleet: readonly FleetCluster[], heartbeats: readonly HeartbeatUpdate[]) {
  const pending = new Map(heartbeats.map((heartbeat) => [heartbeat.name, heartbeat]))
  const next = fleet.map((cluster) => {
    if (!cluster.nodes.some(({ name }) => pending.has(name))) return cluster
    const nodes = cluster.nodes.map((node) => {
      const heartbeat = pending.get(node.name)
      if (!heartbeat) return node
      pending.delete(node.name)
      const { state, cpuPercent, memoryPercent } = heartbeat
      return { ...node, state, cpuPercent, memoryPercent }
    })
    return { ...cluster, nodes }
  })
  return { fleet: next, isComplete: pending.size === 0 }
}

const maxPitch = 26
const minPitch = 5

/** Cell size including its gap, so that `count` cells on `width` pixels need about `height` pixels, within limits. */
export function cellPitch(count: number, width: number, height: number): number {
  return Math.max(minPitch, Math.min(maxPitch, Math.floor(Math.sqrt((width * height) / Math.max(1, count)))))
}

/** The cell that a key press moves to; null when the key does not move. */
export function moveCell(key: string, from: number, columns: number, count: number): number | null {
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  const step = steps[key]
  if (step === undefined) return null
  const to = from + step
  return to < 0 || to >= count ? from : to
}
