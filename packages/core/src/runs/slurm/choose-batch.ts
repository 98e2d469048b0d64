import { isInService, type SlurmReservation } from '@muster/slurm'
import { InvalidInput } from '../../kernel/errors.ts'
import { expandHostlist, foldHostlist } from '../../selection/index.ts'
import { type ClusterView, isBusy, type ViewNode } from './cluster-view.ts'
import type { SlurmRunOptions } from './options.ts'
import type { OtherWork } from './other-work.ts'

export type NodeReason = { name: string; reason: string }
export type BatchChoice = {
  /** Names of Slurm nodes; empty when none can be drained now. */
  batch: string[]
  /** Why `batch` is empty although nodes are left; null when it is not. */
  waitsFor: string | null
  /** Nodes that this run drains later, and what they wait for besides capacity. */
  waiting: NodeReason[]
  /** Nodes that this run does not drain. */
  skipped: NodeReason[]
}

/** A node of a run: its NodeName, and the node of the inventory on which the playbook runs. */
export type PendingNode = { name: string; nodeId: string | null }

type Clock = {
  /** Milliseconds since 1970. */
  now: number
  /** Longest wait for the jobs of a batch. */
  deadlineMs: number
  /** Longest time from the end of the jobs to the end of the batch. */
  runMs: number
}
type ReservationOptions = Pick<SlurmRunOptions, 'includeReserved' | 'maintenanceOnly'>

/**
 * Chooses the nodes of the next batch: those that are free first, as many as the floor of each of their partitions permits. A node that is
 * out of service already takes no capacity. All nodes of a batch are out of service until its last job has ended, so that a reservation of
 * one of them limits the others.
 */
export function chooseBatch(
  view: ClusterView,
  others: OtherWork,
  pending: readonly PendingNode[],
  options: Pick<SlurmRunOptions, 'batchSize' | 'floorPercent'> & ReservationOptions,
  clock: Clock,
): BatchChoice {
  const blockerOf = reservationBlockers(view.cluster.reservations, options)
  const skipped: NodeReason[] = []
  const waiting: NodeReason[] = []
  const usable: { node: ViewNode; free: number }[] = []
  for (const { name, nodeId } of pending) {
    const node = view.nodes.get(name)
    const lost = lostReason(view, { name, nodeId })
    if (!node || lost !== null) {
      skipped.push({ name, reason: lost! })
      continue
    }
    const free = freeAt(node, clock.now)
    const operation = others.operationOf(name)
    const blocker = operation ? { reason: operation, isSkipped: false } : blockerOf(name, clock.now, latestEnd(free, clock))
    if (blocker === null) usable.push({ node, free })
    else (blocker.isSkipped ? skipped : waiting).push({ name, reason: blocker.reason })
  }
  const capacity = capacityOf(view, others, options.floorPercent)
  const batch: ViewNode[] = []
  let short: string | null = null
  let end = 0
  for (const { node, free } of usable.toSorted((a, b) => (a.free === b.free ? 0 : a.free - b.free))) {
    if (batch.length >= options.batchSize) break
    const takesCapacity = isInService(node.states)
    const full = takesCapacity ? node.partitions.find((name) => !capacity.canTake(name)) : undefined
    if (full !== undefined) {
      short ??= capacity.describe(full)
      continue
    }
    const later = latestEnd(free, clock)
    if (later > end && batch.some(({ name }) => blockerOf(name, clock.now, later) !== null)) break
    end = later
    if (takesCapacity) for (const name of node.partitions) capacity.take(name)
    batch.push(node)
  }
  const waitsFor = batch.length === 0 ? (short ?? waiting[0]?.reason ?? null) : null
  return { batch: batch.map(({ name }) => name).sort(), waitsFor, waiting, skipped }
}

/** Why the playbook must not run for this Slurm node; null when it may. */
function lostReason(view: ClusterView, { name, nodeId }: PendingNode): string | null {
  const node = view.nodes.get(name)
  if (!node) return `The cluster ${view.cluster.name} no longer has it.`
  return node.nodeId === nodeId ? null : `It is matched to another node of the inventory than at the start of the run.`
}

/**
 * Why the playbook must not begin on a drained node, because of what changed since it was chosen; null when it may.
 * @param clock `runMs`: from now to the end of the batch
 */
export function startBlockers(
  view: ClusterView,
  options: ReservationOptions,
  { now, runMs }: Pick<Clock, 'now' | 'runMs'>,
): (node: PendingNode) => string | null {
  const blockerOf = reservationBlockers(view.cluster.reservations, options)
  return (node) => {
    const blocker = blockerOf(node.name, now, now + runMs)
    if (blocker === null) return lostReason(view, node)
    return blocker.isSkipped ? blocker.reason : `It waits for ${blocker.reason}.`
  }
}

/** A reservation that begins before it is in the way. */
const latestEnd = (free: number, { now, deadlineMs, runMs }: Clock): number =>
  Math.min(Math.max(free, now), now + deadlineMs) + runMs

/** When the last job on the node ends; Infinity without a time limit. */
export const freeAt = (node: ViewNode, now: number): number =>
  isBusy(node) ? Math.max(now, ...node.jobs.map(({ endsAt }) => endsAt ?? Number.POSITIVE_INFINITY)) : 0

export type PartitionCapacity = { name: string; nodes: number; inService: number; floor: number }

/** Nodes of each partition, and how many stay in service. */
export function partitionCapacities(view: ClusterView, others: OtherWork, floorPercent: number): Map<string, PartitionCapacity> {
  const capacities = new Map<string, PartitionCapacity>()
  for (const node of view.nodes.values())
    for (const name of node.partitions) {
      const one = capacities.get(name) ?? { name, nodes: 0, inService: 0, floor: 0 }
      one.nodes++
      if (isInService(node.states) && !others.isOut(node.name)) one.inService++
      one.floor = Math.ceil((one.nodes * floorPercent) / 100)
      capacities.set(name, one)
    }
  return capacities
}

function capacityOf(view: ClusterView, others: OtherWork, floorPercent: number) {
  const capacities = partitionCapacities(view, others, floorPercent)
  return {
    canTake: (name: string) => capacities.get(name)!.inService > capacities.get(name)!.floor,
    take: (name: string) => void capacities.get(name)!.inService--,
    describe(name: string) {
      const { inService, nodes, floor } = capacities.get(name)!
      return `capacity: ${inService} of ${nodes} nodes of the partition ${name} are in service, and ${floor} must stay`
    },
  }
}

const isMaintenance = ({ flags }: SlurmReservation): boolean => flags.includes('MAINT')

/** The reservations of a node. One whose hostlist cannot be read may include any node. */
function reservationsByNode(reservations: readonly SlurmReservation[]): (name: string) => SlurmReservation[] {
  const byNode = new Map<string, SlurmReservation[]>()
  const unreadable: SlurmReservation[] = []
  for (const reservation of reservations) {
    try {
      for (const name of expandHostlist(reservation.nodes)) byNode.set(name, [...(byNode.get(name) ?? []), reservation])
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      if (!isMaintenance(reservation)) unreadable.push(reservation)
    }
  }
  return (name) => [...(byNode.get(name) ?? []), ...unreadable]
}

const time = (date: Date | null): number | null => (date === null ? null : new Date(date).getTime())
const begins = ({ startAt }: SlurmReservation): number => time(startAt) ?? 0
const ends = ({ endAt }: SlurmReservation): number => time(endAt) ?? Number.POSITIVE_INFINITY
const shown = (date: Date | null): string =>
  date === null ? 'unknown' : new Date(date).toISOString().slice(0, 16).replace('T', ' ')

type Blocker = { reason: string; isSkipped: boolean }

/** @returns for a node that is out of service from `now` to `until`: why it must not be; null when it may */
function reservationBlockers(
  reservations: readonly SlurmReservation[],
  { includeReserved, maintenanceOnly }: ReservationOptions,
): (name: string, now: number, until: number) => Blocker | null {
  const ofNode = reservationsByNode(reservations)
  return (name, now, until) => {
    const current = ofNode(name).filter((one) => ends(one) > now)
    const other = current.find((one) => !isMaintenance(one) && begins(one) < until)
    if (other && !includeReserved)
      return {
        isSkipped: true,
        reason: `It belongs to the reservation ${other.name} from ${shown(other.startAt)} to ${shown(other.endAt)} UTC.`,
      }
    return maintenanceOnly ? maintenanceBlocker(current.filter(isMaintenance), now, until) : null
  }
}

/** A node is out of service only during one maintenance window. */
function maintenanceBlocker(windows: readonly SlurmReservation[], now: number, until: number): Blocker | null {
  if (windows.length === 0) return { isSkipped: true, reason: 'No reservation for maintenance (flag MAINT) includes it.' }
  if (windows.some((one) => begins(one) <= now && ends(one) >= until)) return null
  const [next] = windows
    .filter((one) => begins(one) > now && ends(one) - begins(one) >= until - now)
    .sort((a, b) => begins(a) - begins(b))
  if (next) return { isSkipped: false, reason: `the maintenance window ${next.name}, which begins at ${shown(next.startAt)} UTC` }
  const [{ name, endAt }] = windows as [SlurmReservation]
  return {
    isSkipped: true,
    reason: `The maintenance window ${name} ends at ${shown(endAt)} UTC; the run may take until ${shown(new Date(until))} UTC. Shorten the timeout of the run, or extend the window.`,
  }
}

/** Partitions of which the floor lets no node be drained, even when all are in service. */
export function blockingPartitions(view: ClusterView, names: readonly string[], floorPercent: number): string[] {
  const wanted = new Set(names.flatMap((name) => view.nodes.get(name)?.partitions ?? []))
  return [...partitionCapacities(view, NO_OTHER_WORK, floorPercent).values()]
    .filter(({ name, nodes, floor }) => wanted.has(name) && floor >= nodes)
    .map(({ name, nodes }) => `${name} (${nodes} ${nodes === 1 ? 'node' : 'nodes'})`)
}

const NO_OTHER_WORK: OtherWork = { isOut: () => false, operationOf: () => null }

export const folded = (names: readonly string[]): string => foldHostlist([...names])
