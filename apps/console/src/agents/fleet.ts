import type { AgentState, FleetCluster, HeartbeatUpdate } from './documents.ts'

/** In display order. */
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
export function countStates(clusters: readonly Pick<FleetCluster, 'states'>[]): Counts {
  const counts = Object.fromEntries(agentStates.map((state) => [state, 0])) as Counts
  for (const { states } of clusters) for (const state of states) counts[state]++
  return counts
}

const indexes = new WeakMap<readonly string[], Map<string, number>>()
function indexOfNode(names: readonly string[], name: string): number | undefined {
  let cached = indexes.get(names)
  if (!cached) {
    cached = new Map(names.map((each, index) => [each, index]))
    indexes.set(names, cached)
  }
  return cached.get(name)
}

/** Applies heartbeats to the fleet. `isComplete` is false when a node is not in it yet; then the fleet must be read again. */
export function applyHeartbeats(fleet: readonly FleetCluster[], heartbeats: readonly HeartbeatUpdate[]) {
  let isComplete = true
  const next = [...fleet]
  for (const heartbeat of heartbeats) {
    const at = next.findIndex(({ names }) => indexOfNode(names, heartbeat.name) !== undefined)
    const current = next[at]
    if (!current) {
      isComplete = false
      continue
    }
    const index = indexOfNode(current.names, heartbeat.name) as number
    const cluster = current === fleet[at] ? copyCluster(current) : current
    cluster.states[index] = heartbeat.state
    cluster.cpu[index] = heartbeat.cpuPercent
    cluster.memory[index] = heartbeat.memoryPercent
    next[at] = cluster
  }
  return { fleet: next, isComplete }
}
// `names` stays the same array: it is the key of the index cache.
const copyCluster = (cluster: FleetCluster): FleetCluster => ({
  ...cluster,
  states: [...cluster.states],
  cpu: [...cluster.cpu],
  memory: [...cluster.memory],
})

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
