import type { AgentState, FleetCluster, HeartbeatNews } from './documents.ts'

/** In the order in which people want to know them. */
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

/** How many cells are in each state. */
export function countStates(clusters: readonly Pick<FleetCluster, 'states'>[]): Counts {
  const counts = Object.fromEntries(agentStates.map((state) => [state, 0])) as Counts
  for (const { states } of clusters) for (const state of states) counts[state]++
  return counts
}

const places = new WeakMap<readonly string[], Map<string, number>>()
function placeOf(names: readonly string[], name: string): number | undefined {
  let known = places.get(names)
  if (!known) {
    known = new Map(names.map((each, index) => [each, index]))
    places.set(names, known)
  }
  return known.get(name)
}

/** The fleet after some beats. `isComplete` is false when one is of a node that is not in it yet: then it is to be read again. */
export function withBeats(fleet: readonly FleetCluster[], beats: readonly HeartbeatNews[]) {
  let isComplete = true
  const next = [...fleet]
  for (const beat of beats) {
    const at = next.findIndex(({ names }) => placeOf(names, beat.name) !== undefined)
    const before = next[at]
    if (!before) {
      isComplete = false
      continue
    }
    const place = placeOf(before.names, beat.name) as number
    const cluster = before === fleet[at] ? copyOf(before) : before
    cluster.states[place] = beat.state
    cluster.cpu[place] = beat.cpuPercent
    cluster.memory[place] = beat.memoryPercent
    next[at] = cluster
  }
  return { fleet: next, isComplete }
}
// The names stay the same array, by which their places are known.
const copyOf = (cluster: FleetCluster): FleetCluster => ({
  ...cluster,
  states: [...cluster.states],
  cpu: [...cluster.cpu],
  memory: [...cluster.memory],
})

const largest = 26
const smallest = 5

/** Side of a cell with its gap, so that `count` cells on `width` pixels are at most about `height` high, as far as they can be seen. */
export function pitchFor(count: number, width: number, height: number): number {
  return Math.max(smallest, Math.min(largest, Math.floor(Math.sqrt((width * height) / Math.max(1, count)))))
}

/** Where a key leads from a cell of a grid with so many columns; null: the key does not move. */
export function moved(key: string, from: number, columns: number, count: number): number | null {
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  const step = steps[key]
  if (step === undefined) return null
  const to = from + step
  return to < 0 || to >= count ? from : to
}
