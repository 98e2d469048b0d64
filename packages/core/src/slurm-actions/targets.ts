import { createHash } from 'node:crypto'
import { hasEnded, hasNodeState, type SlurmJob } from '@muster/slurm'
import { jobsOfTarget, type SlurmAction, type SlurmLists, stateFinder, targetKind } from '@muster/slurm/commands'
import { and, eq, ne, sql } from 'drizzle-orm'
import { type SlurmCluster, slurmClusters, slurmJobs, slurmNodes, slurmPartitions } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound } from '../kernel/errors.ts'
import { expandHostlist } from '../selection/index.ts'
import { MAX_TARGETS, type SlurmActionRequest } from './input.ts'

type Db = Tx | Ctx['db']

/** A target as Muster knew it at the last refresh of its cluster. */
export type SlurmTarget = {
  target: string
  /** What the action changes, in Slurm's words; null: the cluster had no such object. */
  state: string | null
  /** Whether the action would change nothing. */
  isReached: boolean
  /** Partitions of the node or job, or the partition itself. */
  partitions: string[]
  /** A job's user. */
  user: string | null
  /** IDs of the jobs that run on the node, from `withRunningJobs`. */
  runningJobs: string[]
}

/** @throws NotFound; Conflict it has no controller node */
export async function findCluster(db: Db, ctx: Ctx, id: string): Promise<SlurmCluster> {
  const [cluster] = await db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
  if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
  if (!cluster.controllerNodeId) throw new Conflict(`The cluster ${cluster.name} has no controller node. Choose one.`)
  return cluster
}

/** The targets of a request, in the order of its list or of their names. @throws InvalidInput there are none, or too many */
export async function findTargets(
  db: Db,
  cluster: SlurmCluster,
  request: SlurmActionRequest,
  action: SlurmAction,
): Promise<SlurmTarget[]> {
  const targets = await read(db, cluster, request, action)
  const path = { node: 'nodes', job: 'jobs', partition: 'partitions', reservation: 'reservation' }[targetKind(action.verb)]
  if (targets.length === 0) throw new InvalidInput([{ path, message: `nothing in the cluster ${cluster.name} matches` }])
  if (targets.length > MAX_TARGETS) throw new InvalidInput([{ path, message: `matches more than ${MAX_TARGETS}` }])
  return targets
}

function read(db: Db, cluster: SlurmCluster, request: SlurmActionRequest, action: SlurmAction): Promise<SlurmTarget[]> {
  switch (targetKind(action.verb)) {
    case 'node':
      return readNodes(db, cluster.id, request.nodes!, action)
    case 'job':
      return readJobs(db, cluster.id, request.jobs!, action)
    case 'partition':
      return readPartitions(db, cluster.id, request.partitions!, action)
    case 'reservation': {
      const find = stateFinder(action, { reservations: cluster.reservations }, expandHostlist)
      return Promise.resolve([targetOf(request.reservation!.name, find(request.reservation!.name))])
    }
  }
}

const targetOf = (
  target: string,
  found: { text: string; isReached: boolean } | null,
  more: Partial<Pick<SlurmTarget, 'partitions' | 'user'>> = {},
): SlurmTarget => ({
  target,
  state: found?.text ?? null,
  isReached: found?.isReached ?? false,
  partitions: [],
  user: null,
  runningJobs: [],
  ...more,
})

/** Whether an object has one of the states. No states: all. */
const hasState = (wanted: readonly string[] | null | undefined, states: readonly string[]): boolean =>
  !wanted || wanted.some((state) => states.includes(state.toUpperCase()))

async function readNodes(
  db: Db,
  clusterId: string,
  { hostlist, partition, states }: NonNullable<SlurmActionRequest['nodes']>,
  action: SlurmAction,
): Promise<SlurmTarget[]> {
  if (!hostlist && !partition && !states) throw new InvalidInput([{ path: 'nodes', message: 'needs a condition' }])
  const listed = hostlist ? expandHostlist(hostlist, { max: MAX_TARGETS }) : null
  const rows = await db
    .select()
    .from(slurmNodes)
    .where(and(eq(slurmNodes.clusterId, clusterId), listed ? isOneOf(slurmNodes.name, listed, 'text') : undefined))
    .orderBy(slurmNodes.name)
  const byName = new Map(rows.map((row) => [row.name, row]))
  const named = listed ?? rows.map(({ name }) => name)
  const names = named.filter((name) => {
    const row = byName.get(name)
    // A name that the cluster does not have is a target only when nothing else is asked of it.
    if (!row) return !partition && !states
    return (!partition || row.partitions.includes(partition)) && (!states || hasNodeState(row.states, states))
  })
  const find = stateFinder(action, { nodes: rows.map(({ report }) => report) }, expandHostlist)
  return names.map((name) => targetOf(name, find(name), { partitions: byName.get(name)?.partitions ?? [] }))
}

/** Adds the IDs of the jobs that run on targets that are nodes. */
export async function withRunningJobs(db: Db, cluster: SlurmCluster, targets: SlurmTarget[]): Promise<SlurmTarget[]> {
  const names = targets.map(({ target }) => target)
  const rows = await db
    .select({ jobId: slurmJobs.jobId, state: slurmJobs.state, nodeNames: slurmJobs.nodeNames })
    .from(slurmJobs)
    .where(
      and(
        eq(slurmJobs.clusterId, cluster.id),
        sql`${slurmJobs.nodeNames} && ${sql.param(names)}::text[]`,
        ne(slurmJobs.state, 'PENDING'),
      ),
    )
    .orderBy(slurmJobs.jobId)
  const byNode = new Map<string, string[]>(names.map((name) => [name, []]))
  for (const { jobId, state, nodeNames } of rows)
    if (!hasEnded({ states: [state] })) for (const node of nodeNames) byNode.get(node)?.push(jobId)
  return targets.map((target) => ({ ...target, runningJobs: byNode.get(target.target)! }))
}

async function readJobs(
  db: Db,
  clusterId: string,
  { ids, user, partition, states }: NonNullable<SlurmActionRequest['jobs']>,
  action: SlurmAction,
): Promise<SlurmTarget[]> {
  if (!ids && !user && !partition && !states) throw new InvalidInput([{ path: 'jobs', message: 'needs a condition' }])
  const rows = await db
    .select()
    .from(slurmJobs)
    .where(and(eq(slurmJobs.clusterId, clusterId), user ? eq(slurmJobs.userName, user) : undefined))
    .orderBy(slurmJobs.id)
  const matches = ({ report }: { report: SlurmJob }) =>
    !hasEnded(report) &&
    (!user || report.user === user) &&
    (!partition || report.partition.split(',').includes(partition)) &&
    hasState(states, report.states)
  const lists: SlurmLists = { jobs: rows.filter(matches).map(({ report }) => report) }
  const find = stateFinder(action, lists, expandHostlist)
  const byId = new Map(rows.map((row) => [row.jobId, row.report]))
  const jobsOf = jobsOfTarget(rows.map(({ report }) => report))
  // Components of a heterogeneous job can only be canceled together.
  const idOf = (jobId: string) => (action.verb === 'CANCEL_JOBS' ? jobId.replace(/\+\d+$/, '') : jobId)
  const isFiltered = user || partition || states
  const targets = ids
    ? [...new Set(ids)].filter((id) => !isFiltered || find(id) !== null)
    : [...new Set(rows.filter(matches).map(({ jobId }) => idOf(jobId)))]
  return targets.map((id) => {
    const report = byId.get(id) ?? byId.get(`${id}+0`)
    // All tasks of an array and components of a heterogeneous job, which may be in several partitions.
    const partitions = new Set([...(report ? [report] : []), ...jobsOf(id)].flatMap((job) => job.partition.split(',')))
    return targetOf(id, find(id), { partitions: [...partitions], user: report?.user ?? null })
  })
}

async function readPartitions(db: Db, clusterId: string, names: readonly string[], action: SlurmAction): Promise<SlurmTarget[]> {
  const rows = await db.select().from(slurmPartitions).where(eq(slurmPartitions.clusterId, clusterId))
  const find = stateFinder(action, { partitions: rows.map(({ report }) => report) }, expandHostlist)
  return [...new Set(names)].map((name) => targetOf(name, find(name), { partitions: [name] }))
}

/** Changes when the action or its set of targets does. */
export function fingerprintOf(request: SlurmActionRequest, targets: readonly SlurmTarget[]): string {
  const names = targets.map(({ target }) => target).sort()
  const { clusterId, nodes: _nodes, jobs: _jobs, partitions: _partitions, ...rest } = request
  return createHash('sha256')
    .update(JSON.stringify([clusterId, rest, names]))
    .digest('hex')
    .slice(0, 24)
}
