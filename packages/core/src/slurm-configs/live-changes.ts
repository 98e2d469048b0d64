import { hasEnded } from '@muster/slurm'
import { type ConfigFiles, parseConfig, readEntries, readHostlist } from '@muster/slurm/config'
import { and, arrayOverlaps, eq } from 'drizzle-orm'
import { type SlurmCluster, slurmJobs, slurmNodes, slurmPartitions } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'

const MAX_SENTENCES = 20

/**
 * What differs on a cluster from the files because somebody changed it with scontrol: reading the files again undoes it.
 * @param removedNodes nodes that the files do not have any more; jobs on them block a rollout
 */
export async function lostLiveChanges(
  db: Tx | Ctx['db'],
  { id }: Pick<SlurmCluster, 'id'>,
  files: ConfigFiles,
  removedNodes: readonly string[],
): Promise<{ lost: string[]; blockedReason: string | null }> {
  const config = parseConfig(files['slurm.conf'])
  const partitions = await db
    .select()
    .from(slurmPartitions)
    .where(eq(slurmPartitions.clusterId, id))
    .orderBy(slurmPartitions.name)
  const nodes = await db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, id)).orderBy(slurmNodes.name)
  const lost: string[] = []
  const configured = new Map(readEntries(config, 'PartitionName').map(({ name, values }) => [name, values]))
  for (const { name, report } of partitions) {
    const state = (configured.get(name)?.get('state') ?? 'UP').toUpperCase()
    if (!configured.has(name)) lost.push(`The partition ${name} disappears; the files do not have it.`)
    else if (report.state !== state) lost.push(`The partition ${name} is ${report.state} and becomes ${state}.`)
  }
  const weights = new Map<string, number>()
  for (const { name, values } of readEntries(config, 'NodeName'))
    for (const node of readHostlist(name) ?? []) weights.set(node, Number(values.get('weight') ?? 1))
  for (const { name, report } of nodes) {
    const weight = weights.get(name)
    if (weight !== undefined && report.weight !== weight)
      lost.push(`The weight of ${name} is ${report.weight} and becomes ${weight}.`)
  }
  return { lost: lost.slice(0, MAX_SENTENCES), blockedReason: await jobsOn(db, id, removedNodes) }
}

/** Slurm loses jobs whose node disappears. */
async function jobsOn(db: Tx | Ctx['db'], clusterId: string, names: readonly string[]): Promise<string | null> {
  if (names.length === 0) return null
  const jobs = await db
    .select({ jobId: slurmJobs.jobId, report: slurmJobs.report, nodeNames: slurmJobs.nodeNames })
    .from(slurmJobs)
    .where(and(eq(slurmJobs.clusterId, clusterId), arrayOverlaps(slurmJobs.nodeNames, [...names])))
    .orderBy(slurmJobs.id)
  const running = jobs.filter(({ report }) => !hasEnded(report) && report.states[0] !== 'PENDING')
  if (running.length === 0) return null
  const node = names.find((name) => running[0]!.nodeNames.includes(name))
  return `The job ${running[0]!.jobId} runs on ${node}, which the configuration removes. Drain the node and wait for its jobs first.`
}
