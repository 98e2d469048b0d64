import { foldHostlist, hasEnded } from '@muster/slurm'
import { type ConfigFiles, parseConfig, readEntries, readHostlist } from '@muster/slurm/config'
import { and, arrayOverlaps, eq } from 'drizzle-orm'
import { type SlurmCluster, slurmJobs, slurmNodes, slurmPartitions } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'

const MAX_SENTENCES = 20

/**
 * What somebody changed on a cluster with scontrol: reading the files again undoes it. Changes that the files themselves make are not lost.
 * @param from the files that are rolled out; null when unknown
 * @param removedNodes nodes that the files do not have any more; jobs on them block a rollout
 */
export async function lostLiveChanges(
  db: Tx | Ctx['db'],
  { id }: Pick<SlurmCluster, 'id'>,
  { from, to, removedNodes }: { from: ConfigFiles | null; to: ConfigFiles; removedNodes: readonly string[] },
): Promise<{ lost: string[]; blockedReason: string | null }> {
  const partitions = await db
    .select()
    .from(slurmPartitions)
    .where(eq(slurmPartitions.clusterId, id))
    .orderBy(slurmPartitions.name)
  const nodes = await db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, id)).orderBy(slurmNodes.name)
  const before = from && readLiveSettings(from)
  const after = readLiveSettings(to)
  const lost: string[] = []
  const compare = (what: string, live: string, old: string | null | undefined, next: string | null | undefined) => {
    if (next != null && live !== next && live !== old) lost.push(`${what} is ${live || 'empty'} and becomes ${next || 'empty'}.`)
  }
  for (const { name, report } of partitions) {
    const next = after.partitions.get(name)
    const old = before?.partitions.get(name)
    if (!next) lost.push(`The partition ${name} disappears; the files do not have it.`)
    else if (report.state !== next.state && report.state !== old?.state)
      lost.push(`The partition ${name} is ${report.state} and becomes ${next.state}.`)
    const live = readHostlist(report.nodes)
    if (live) compare(`The node list of the partition ${name}`, foldHostlist(live), old?.nodes, next?.nodes)
  }
  for (const { name, report } of nodes) {
    const next = after.nodes.get(name)
    const old = before?.nodes.get(name)
    compare(`The weight of ${name}`, String(report.weight), old?.weight, next?.weight)
    compare(`The feature list of ${name}`, sorted(report.features), old?.features, next?.features)
  }
  return { lost: lost.slice(0, MAX_SENTENCES), blockedReason: await jobsOn(db, id, removedNodes) }
}

const sorted = (words: readonly string[]): string => words.toSorted().join(',')

/** What scontrol can change until the files are read again. The nodes of a partition are null when node sets determine them. */
function readLiveSettings(files: ConfigFiles) {
  const config = parseConfig(files['slurm.conf'])
  const nodes = new Map<string, { weight: string; features: string }>()
  for (const { name, values } of readEntries(config, 'NodeName')) {
    const features = values.get('features') ?? values.get('feature') ?? ''
    const settings = { weight: String(Number(values.get('weight') ?? 1)), features: sorted(features.split(',').filter(Boolean)) }
    for (const node of readHostlist(name) ?? []) nodes.set(node, settings)
  }
  const partitions = new Map(
    readEntries(config, 'PartitionName').map(({ name, values }) => {
      const given = values.get('nodes') ?? ''
      const names = given.toUpperCase() === 'ALL' ? [...nodes.keys()] : readHostlist(given)
      const list = names?.every((one) => nodes.has(one)) ? foldHostlist(names) : null
      return [name, { state: (values.get('state') ?? 'UP').toUpperCase(), nodes: list }] as const
    }),
  )
  return { nodes, partitions }
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
