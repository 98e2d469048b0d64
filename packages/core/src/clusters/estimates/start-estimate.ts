import { isInService, type SlurmJob, type SlurmNode, type SlurmPartition, type SlurmReservation } from '@muster/slurm'
import { expandHostlist } from '../../selection/index.ts'

/** Resources of a job on each of its nodes. */
export type StartRequest = {
  nodes: number
  cpus: number
  memoryMiB: number
  gpus: number
  /** Type of the GPUs as Slurm names it; null: any. */
  gpuType: string | null
  timeLimitMinutes: number
}
export type StartEstimate = {
  partition: string
  /** Milliseconds since 1970; null: never with the nodes that are in service, or not before a job without a time limit ends. */
  startAt: number | null
  /** Names of nodes that it could use. */
  nodes: string[]
  /** Pending jobs that were placed before it. */
  jobsAhead: number
  /** Why there is no start; null when there is one. */
  blockedReason: string | null
}
export type EstimateInput = {
  nodes: readonly Pick<
    SlurmNode,
    'name' | 'states' | 'partitions' | 'cpus' | 'memory' | 'allocatedCpus' | 'allocatedMemory' | 'gres' | 'gresUsed'
  >[]
  partitions: readonly Pick<SlurmPartition, 'name' | 'state' | 'maxTime' | 'defaultTime'>[]
  jobs: readonly SlurmJob[]
  reservations: readonly Pick<SlurmReservation, 'nodes' | 'startAt' | 'endAt'>[]
}

const DAY_MINUTES = 1440
/** More pending jobs than these are not placed. */
const MAX_AHEAD = 500
/** Reasons of jobs that only wait for resources. Others wait for something that no list shows. */
const WAITS_FOR_RESOURCES = new Set([null, 'None', 'Resources', 'Priority'])

type Resources = { cpus: number; memory: number; gpus: Map<string, number> }
/** Resources that are taken from now until a time. */
type Hold = Resources & { until: number }
type Node = { name: string; partitions: string[]; total: Resources; holds: Hold[]; closed: { from: number; to: number }[] }

const time = (date: Date | null): number | null => (date === null ? null : new Date(date).getTime())

/** A resource of which jobs take any type has the type ''. */
const gpusOf = (list: readonly { name: string; type: string | null; count: number }[]): Map<string, number> => {
  const gpus = new Map<string, number>()
  for (const { name, type, count } of list) if (name === 'gpu') gpus.set(type ?? '', (gpus.get(type ?? '') ?? 0) + count)
  return gpus
}

/**
 * Estimates when a job would start in each partition: places the pending jobs in the order of their priorities, then the new one, each at
 * the first time at which enough nodes have enough free resources. Running jobs end at their time limits. Each job has an equal part of
 * its resources on each of its nodes. Not considered: backfill into gaps, fair share, limits of users and accounts, licenses, topology,
 * CPUs that pending jobs request per GPU. The real start may be earlier or later.
 * @param isOutOfTime whether to give up: the steps are as many as pending jobs times nodes times running jobs
 */
export function estimateStarts(
  input: EstimateInput,
  request: StartRequest,
  now: number,
  isOutOfTime: () => boolean = () => false,
): StartEstimate[] {
  const checkTime = () => {
    if (isOutOfTime()) throw new OutOfTime()
  }
  return input.partitions.map((partition) => {
    try {
      return estimateIn(partition, input, request, now, checkTime)
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error
      return blocked(partition.name, 'It has too many nodes and jobs for an estimate.')
    }
  })
}

class OutOfTime extends Error {}

const blocked = (partition: string, blockedReason: string): StartEstimate => ({
  ...{ partition, startAt: null, nodes: [], jobsAhead: 0, blockedReason },
})

function estimateIn(
  { name: partition, state, maxTime }: EstimateInput['partitions'][number],
  input: EstimateInput,
  request: StartRequest,
  now: number,
  checkTime: () => void,
): StartEstimate {
  const none = (blockedReason: string) => blocked(partition, blockedReason)
  if (state !== 'UP') return none(`The partition is ${state}.`)
  if (typeof maxTime === 'number' && request.timeLimitMinutes > maxTime)
    return none(`The time limit is longer than that of the partition, ${maxTime} min.`)
  checkTime()
  const nodes = timelines(input, now)
  const inPartition = (names: readonly string[]) => nodes.filter((node) => node.partitions.some((one) => names.includes(one)))
  const own = inPartition([partition])
  const need: Resources = { cpus: request.cpus, memory: request.memoryMiB, gpus: new Map() }
  if (request.gpus > 0) need.gpus.set(request.gpuType ?? '', request.gpus)
  if (own.filter(({ total }) => covers(total, need)).length < request.nodes)
    return none('It does not have enough nodes in service with these resources.')
  const ownNames = new Set(own.map(({ name }) => name))
  const ahead = waitingJobs(input.jobs).filter((job) =>
    inPartition(job.partition.split(',')).some(({ name }) => ownNames.has(name)),
  )
  for (const job of ahead) {
    const count = Math.max(1, job.nodeCount)
    const placed = place(inPartition(job.partition.split(',')), count, perNode(job, count), minutesOf(job), now, checkTime)
    if (placed) for (const node of placed.nodes) node.holds.push({ ...perNode(job, count), until: placed.end })
  }
  const placed = place(own, request.nodes, need, request.timeLimitMinutes, now, checkTime)
  if (!placed) return none('Jobs without a time limit hold the nodes.')
  return {
    partition,
    startAt: placed.start,
    nodes: placed.nodes.map(({ name }) => name),
    jobsAhead: ahead.length,
    blockedReason: null,
  }
}

/** Nodes in service, with what holds their resources now. */
function timelines({ nodes, jobs, reservations }: EstimateInput, now: number): Node[] {
  const byName = new Map(
    nodes
      .filter(({ states }) => isInService(states))
      .map((node): [string, Node] => [
        node.name,
        {
          name: node.name,
          partitions: node.partitions,
          total: { cpus: node.cpus, memory: node.memory, gpus: gpusOf(node.gres) },
          holds: [],
          closed: [],
        },
      ]),
  )
  for (const { nodes: hostlist, startAt, endAt } of reservations)
    for (const name of expandHostlist(hostlist))
      byName.get(name)?.closed.push({ from: time(startAt) ?? now, to: time(endAt) ?? Number.POSITIVE_INFINITY })
  for (const job of jobs) {
    if (!job.nodes || job.states[0] === 'PENDING') continue
    const names = expandHostlist(job.nodes)
    const until = time(job.endAt) ?? Number.POSITIVE_INFINITY
    const held = perNode(job, names.length)
    // One that is over its limit ends any moment.
    for (const name of names) byName.get(name)?.holds.push({ ...held, until: Math.max(until, now) })
  }
  // What is allocated and belongs to no listed job is held until the last job ends.
  for (const { name, allocatedCpus, allocatedMemory, gresUsed } of nodes) {
    const node = byName.get(name)
    if (!node) continue
    const sum = (of: (hold: Hold) => number) => node.holds.reduce((all, hold) => all + of(hold), 0)
    const gpus = new Map<string, number>()
    for (const [type, count] of gpusOf(gresUsed)) {
      const rest = count - sum((hold) => (hold.gpus.get(type) ?? 0) + (type === '' ? 0 : (hold.gpus.get('') ?? 0)))
      if (rest > 0) gpus.set(type, rest)
    }
    const cpus = Math.max(0, allocatedCpus - sum((hold) => hold.cpus))
    const memory = Math.max(0, allocatedMemory - sum((hold) => hold.memory))
    const until = Math.max(now, ...node.holds.map((hold) => hold.until))
    if (cpus > 0 || memory > 0 || gpus.size > 0) node.holds.push({ cpus, memory, gpus, until })
  }
  return [...byName.values()]
}

const waitingJobs = (jobs: readonly SlurmJob[]): SlurmJob[] =>
  jobs
    .filter(({ states, reason }) => states[0] === 'PENDING' && WAITS_FOR_RESOURCES.has(reason))
    .sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0) || a.id - b.id)
    .slice(0, MAX_AHEAD)

const minutesOf = ({ timeLimit }: SlurmJob): number => (typeof timeLimit === 'number' ? timeLimit : DAY_MINUTES)

const perNode = ({ cpus, tres, gres }: SlurmJob, nodes: number): Resources => ({
  cpus: Math.ceil(cpus / nodes),
  memory: Math.ceil((tres.mem ?? 0) / nodes),
  gpus: new Map([...gpusOf(gres)].map(([type, count]) => [type, Math.ceil(count / nodes)])),
})

/** Whether `free` is enough. A job of any type may take its GPUs from one type. */
function covers(free: Resources, need: Resources): boolean {
  if (free.cpus < need.cpus || free.memory < need.memory) return false
  for (const [type, count] of need.gpus) {
    const most = type === '' ? Math.max(0, ...free.gpus.values()) : (free.gpus.get(type) ?? 0)
    if (most < count) return false
  }
  return true
}

function freeAt({ total, holds }: Node, at: number): Resources {
  const active = holds.filter(({ until }) => until > at)
  const gpus = new Map(total.gpus)
  for (const hold of active)
    for (const [type, count] of hold.gpus) {
      // GPUs of any type: from the type of which the node has most.
      const key = type === '' && !gpus.has('') ? [...gpus].sort((a, b) => b[1] - a[1])[0]?.[0] : type
      if (key !== undefined) gpus.set(key, (gpus.get(key) ?? 0) - count)
    }
  return {
    cpus: total.cpus - active.reduce((sum, { cpus }) => sum + cpus, 0),
    memory: total.memory - active.reduce((sum, { memory }) => sum + memory, 0),
    gpus,
  }
}

/** The first time at which the node has the resources and no reservation until the end of the job; Infinity: never. */
function firstFit(node: Node, need: Resources, minutes: number, now: number): number {
  if (!covers(node.total, need)) return Number.POSITIVE_INFINITY
  const lasts = minutes * 60_000
  const times = [now, ...node.holds.map(({ until }) => until), ...node.closed.map(({ to }) => to)]
  const isOpen = (at: number) => node.closed.every(({ from, to }) => at >= to || at + lasts <= from)
  const fits = (at: number) => at >= now && Number.isFinite(at) && isOpen(at) && covers(freeAt(node, at), need)
  return times.sort((a, b) => (a === b ? 0 : a - b)).find(fits) ?? Number.POSITIVE_INFINITY
}

/** The nodes that are free first. @returns null when there are not enough */
function place(
  nodes: readonly Node[],
  count: number,
  need: Resources,
  minutes: number,
  now: number,
  checkTime: () => void,
): { nodes: Node[]; start: number; end: number } | null {
  const chosen = nodes
    .map((node) => {
      checkTime()
      return { node, at: firstFit(node, need, minutes, now) }
    })
    .filter(({ at }) => Number.isFinite(at))
    .sort((a, b) => a.at - b.at || (a.node.name < b.node.name ? -1 : 1))
    .slice(0, count)
  if (chosen.length < count) return null
  const start = Math.max(...chosen.map(({ at }) => at))
  return { nodes: chosen.map(({ node }) => node), start, end: start + minutes * 60_000 }
}
