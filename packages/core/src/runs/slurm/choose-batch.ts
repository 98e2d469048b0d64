import { isInService, type SlurmReservation } from '@muster/slurm'
import { expandHostlist, foldHostlist } from '../../selection/index.ts'
import { type ClusterView, isBusy, type ViewNode } from './cluster-view.ts'
import type { SlurmRunOptions } from './options.ts'

export type BatchChoice = {
  /** Names of Slurm nodes; empty when none can be drained now. */
  batch: string[]
  /** Why `batch` is empty although nodes are left; null when it is not. */
  waitsFor: string | null
  /** Nodes that this run does not drain. */
  skipped: { name: string; reason: string }[]
}

type Clock = {
  /** Milliseconds since 1970. */
  now: number
  /** Longest wait for the jobs of a batch. */
  deadlineMs: number
  /** Longest time from the end of the jobs to the end of the batch. */
  runMs: number
}

/**
 * Chooses the nodes of the next batch: those that are free first, as many as the floor of each of their partitions permits. A node that is
 * out of service already takes no capacity.
 */
export function chooseBatch(
  view: ClusterView,
  pending: readonly string[],
  options: Pick<SlurmRunOptions, 'batchSize' | 'floorPercent' | 'includeReserved' | 'maintenanceOnly'>,
  clock: Clock,
): BatchChoice {
  const reservations = reservationsByNode(view.cluster.reservations)
  const skipped: BatchChoice['skipped'] = []
  const waits: string[] = []
  const usable: { node: ViewNode; free: number }[] = []
  for (const name of pending) {
    const node = view.nodes.get(name)
    if (!node) {
      skipped.push({ name, reason: `The cluster ${view.cluster.name} no longer has it.` })
      continue
    }
    const free = freeAt(node, clock.now)
    const obstacle = reservationObstacle(reservations.get(name) ?? [], options, clock.now, latestEnd(free, clock))
    if (obstacle === null) usable.push({ node, free })
    else if (obstacle.isSkipped) skipped.push({ name, reason: obstacle.reason })
    else waits.push(obstacle.reason)
  }
  const capacity = capacityOf(view, options.floorPercent)
  const batch: ViewNode[] = []
  for (const { node } of usable.toSorted((a, b) => (a.free === b.free ? 0 : a.free - b.free))) {
    if (batch.length >= options.batchSize) break
    const short = isInService(node.states) ? node.partitions.find((name) => !capacity.canTake(name)) : undefined
    if (short !== undefined) {
      waits.unshift(capacity.describe(short))
      continue
    }
    if (isInService(node.states)) for (const name of node.partitions) capacity.take(name)
    batch.push(node)
  }
  const waitsFor = batch.length === 0 ? (waits[0] ?? null) : null
  return { batch: batch.map(({ name }) => name).sort(), waitsFor, skipped }
}

/** A reservation that begins before it is in the way. */
const latestEnd = (free: number, { now, deadlineMs, runMs }: Clock): number =>
  Math.min(Math.max(free, now), now + deadlineMs) + runMs

/** When the last job on the node ends; Infinity without a time limit. */
export const freeAt = (node: ViewNode, now: number): number =>
  isBusy(node) ? Math.max(now, ...node.jobs.map(({ endsAt }) => endsAt ?? Number.POSITIVE_INFINITY)) : 0

export type PartitionCapacity = { name: string; nodes: number; inService: number; floor: number }

/** Nodes of each partition, and how many stay in service. */
export function partitionCapacities(view: ClusterView, floorPercent: number): Map<string, PartitionCapacity> {
  const capacities = new Map<string, PartitionCapacity>()
  for (const node of view.nodes.values())
    for (const name of node.partitions) {
      const one = capacities.get(name) ?? { name, nodes: 0, inService: 0, floor: 0 }
      one.nodes++
      if (isInService(node.states)) one.inService++
      one.floor = Math.ceil((one.nodes * floorPercent) / 100)
      capacities.set(name, one)
    }
  return capacities
}

function capacityOf(view: ClusterView, floorPercent: number) {
  const capacities = partitionCapacities(view, floorPercent)
  return {
    canTake: (name: string) => capacities.get(name)!.inService > capacities.get(name)!.floor,
    take: (name: string) => void capacities.get(name)!.inService--,
    describe(name: string) {
      const { inService, nodes, floor } = capacities.get(name)!
      return `capacity: ${inService} of ${nodes} nodes of the partition ${name} are in service, and ${floor} must stay`
    },
  }
}

function reservationsByNode(reservations: readonly SlurmReservation[]): Map<string, SlurmReservation[]> {
  const byNode = new Map<string, SlurmReservation[]>()
  for (const reservation of reservations)
    for (const name of expandHostlist(reservation.nodes)) byNode.set(name, [...(byNode.get(name) ?? []), reservation])
  return byNode
}

const time = (date: Date | null): number | null => (date === null ? null : new Date(date).getTime())
const shown = (date: Date | null): string =>
  date === null ? 'unknown' : new Date(date).toISOString().slice(0, 16).replace('T', ' ')

function reservationObstacle(
  reservations: readonly SlurmReservation[],
  { includeReserved, maintenanceOnly }: Pick<SlurmRunOptions, 'includeReserved' | 'maintenanceOnly'>,
  now: number,
  until: number,
): { reason: string; isSkipped: boolean } | null {
  const current = reservations.filter(({ endAt }) => (time(endAt) ?? Number.POSITIVE_INFINITY) > now)
  const isMaintenance = ({ flags }: SlurmReservation) => flags.includes('MAINT')
  const begins = ({ startAt }: SlurmReservation) => time(startAt) ?? 0
  const other = current.find((one) => !isMaintenance(one) && begins(one) < until)
  if (other && !includeReserved)
    return {
      isSkipped: true,
      reason: `It belongs to the reservation ${other.name} from ${shown(other.startAt)} to ${shown(other.endAt)} UTC.`,
    }
  if (!maintenanceOnly) return null
  const windows = current.filter(isMaintenance).sort((a, b) => begins(a) - begins(b))
  const [first] = windows
  if (!first) return { isSkipped: true, reason: 'No reservation for maintenance (flag MAINT) includes it.' }
  if (begins(first) <= now) return null
  return { isSkipped: false, reason: `the maintenance window ${first.name}, which begins at ${shown(first.startAt)} UTC` }
}

/** Partitions of which the floor lets no node be drained, even when all are in service. */
export function blockingPartitions(view: ClusterView, names: readonly string[], floorPercent: number): string[] {
  const wanted = new Set(names.flatMap((name) => view.nodes.get(name)?.partitions ?? []))
  return [...partitionCapacities(view, floorPercent).values()]
    .filter(({ name, nodes, floor }) => wanted.has(name) && floor >= nodes)
    .map(({ name, nodes }) => `${name} (${nodes} ${nodes === 1 ? 'node' : 'nodes'})`)
}

export const folded = (names: readonly string[]): string => foldHostlist([...names])
