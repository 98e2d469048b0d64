import { hasEnded, hasReason, type SlurmNode } from '@muster/slurm'
import { and, eq } from 'drizzle-orm'
import { type SlurmCluster, slurmClusters, slurmJobs, slurmNodes } from '../../clusters/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'

export type ViewJob = {
  jobId: string
  /** Milliseconds since 1970; null without a time limit. */
  endsAt: number | null
}
export type ViewNode = Pick<SlurmNode, 'name' | 'states' | 'partitions' | 'reason' | 'allocatedCpus'> & {
  /** The node of the inventory. */
  nodeId: string | null
  /** Milliseconds since 1970. */
  bootAt: number | null
  slurmdStartedAt: number | null
  /** Jobs that occupy it. */
  jobs: ViewJob[]
}

/** A cluster as its controller last reported it. */
export type ClusterView = {
  cluster: SlurmCluster
  /** Milliseconds since 1970: everything that the controller did before is in the data. Null: it does not answer. */
  readAt: number | null
  nodes: Map<string, ViewNode>
}

const timeOf = (date: Date | null): number | null => (date === null ? null : new Date(date).getTime())

/** @returns null when the cluster was removed */
export async function readClusterView(db: Tx | Ctx['db'], ctx: Ctx, clusterId: string): Promise<ClusterView | null> {
  const [cluster] = await db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
  if (!cluster) return null
  const rows = await db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, clusterId)).orderBy(slurmNodes.name)
  const jobs = await db.select().from(slurmJobs).where(eq(slurmJobs.clusterId, clusterId))
  const jobsByNode = new Map<string, ViewJob[]>()
  for (const { jobId, nodeNames, report } of jobs) {
    if (report.states[0] === 'PENDING' || (hasEnded(report) && !report.states.includes('COMPLETING'))) continue
    for (const name of nodeNames) {
      const list = jobsByNode.get(name) ?? []
      list.push({ jobId, endsAt: timeOf(report.endAt) })
      jobsByNode.set(name, list)
    }
  }
  const nodes = rows.map(({ name, states, partitions, nodeId, report }): [string, ViewNode] => [
    name,
    {
      ...{ name, states, partitions, nodeId, reason: report.reason, allocatedCpus: report.allocatedCpus },
      bootAt: timeOf(report.bootAt),
      slurmdStartedAt: timeOf(report.slurmdStartedAt),
      jobs: jobsByNode.get(name) ?? [],
    },
  ])
  const { refreshedAt, refreshDurationMs } = cluster
  const isCurrent = cluster.state === 'OK' && refreshedAt !== null
  return { cluster, readAt: isCurrent ? refreshedAt.getTime() - (refreshDurationMs ?? 0) : null, nodes: new Map(nodes) }
}

const REBOOTING = ['REBOOT', 'REBOOT_ISSUED', 'REBOOT_REQUESTED']

const has = ({ states }: Pick<ViewNode, 'states'>, flags: readonly string[]) => flags.some((flag) => states.includes(flag))

/** Whether no job starts on the node until somebody resumes it. One that is only DOWN may return by itself. */
export const isDrained = (node: Pick<ViewNode, 'states'>): boolean => has(node, ['DRAIN'])

/** Whether no job starts on the node now. */
export const isOut = (node: Pick<ViewNode, 'states'>): boolean => has(node, ['DRAIN', 'DOWN'])

/** Whether jobs, or their epilogs, still occupy the node. */
export const isBusy = (node: Pick<ViewNode, 'states' | 'jobs' | 'allocatedCpus'>): boolean =>
  node.jobs.length > 0 || node.allocatedCpus > 0 || has(node, ['COMPLETING', 'ALLOCATED', 'MIXED'])

/**
 * Why a drained node must not be resumed after the playbook; null when it is registered and healthy.
 * @param drainReason with which Muster drained it; null when it did not, or when it was DOWN before
 * @param startedAt start of the playbook: a node that it rebooted is DOWN in Slurm until it is resumed
 */
export function healthProblem(node: ViewNode, drainReason: string | null, startedAt: number): string | null {
  const words = node.states.join('+')
  const bad = [
    ...REBOOTING,
    'FAIL',
    'NOT_RESPONDING',
    'INVALID_REG',
    'ERROR',
    'FUTURE',
    'UNKNOWN',
    'POWERING_DOWN',
    'POWERED_DOWN',
  ]
  if (has(node, bad)) return `Slurm reports ${words}.`
  if (node.slurmdStartedAt === null) return `It is not registered: Slurm reports ${words}.`
  if (!has(node, ['DOWN'])) return null
  const wasRebooted =
    drainReason !== null && hasReason(node, drainReason) && node.bootAt !== null && node.bootAt >= startedAt - 60_000
  return wasRebooted ? null : `Slurm reports ${words}: ${node.reason ?? 'no reason'}.`
}
