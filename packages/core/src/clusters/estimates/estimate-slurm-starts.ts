import { and, asc, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { type SlurmCluster, slurmClusters, slurmJobs, slurmNodes, slurmPartitions } from '../tables.ts'
import { estimateStarts, type StartEstimate } from './start-estimate.ts'

const MIB = 1024 ** 2
/** For all clusters of a request: nothing else of the API is answered meanwhile. */
const MAX_MS = 1000

export const SlurmStartInput = z
  .object({
    partition: singleLineText(200).nullish(),
    nodes: z.int().min(1).max(100_000).nullish(),
    cpus: z.int().min(1).max(1_000_000),
    memoryBytes: z.number().min(0).max(1e18).nullish(),
    gpus: z.int().min(0).max(10_000).nullish(),
    gpuType: singleLineText(200).nullish(),
    timeLimitMinutes: z.int().min(1).max(525_600_000),
  })
  .refine(({ gpus, gpuType }) => !gpuType || gpus, { path: ['gpus'], message: 'must be at least 1 when a type of GPUs is given' })

export type SlurmStartEstimate = StartEstimate & { cluster: SlurmCluster }

/**
 * Estimates where and when a job would start, the earliest first, by the last refresh of each cluster. Clusters that do not answer are
 * left out. Nothing runs there.
 */
export async function estimateSlurmStarts(ctx: Ctx, input: z.input<typeof SlurmStartInput>): Promise<SlurmStartEstimate[]> {
  const { partition, nodes, cpus, memoryBytes, gpus, gpuType, timeLimitMinutes } = parseInput(SlurmStartInput, input)
  const request = {
    ...{ nodes: nodes ?? 1, cpus, gpus: gpus ?? 0, gpuType: gpuType ?? null, timeLimitMinutes },
    memoryMiB: Math.ceil((memoryBytes ?? 0) / MIB),
  }
  const clusters = await ctx.db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.state, 'OK')))
    .orderBy(asc(slurmClusters.name))
  const estimates: SlurmStartEstimate[] = []
  let spentMs = 0
  for (const cluster of clusters) {
    const [nodeRows, partitionRows, jobRows] = await Promise.all([
      ctx.db.select({ report: slurmNodes.report }).from(slurmNodes).where(eq(slurmNodes.clusterId, cluster.id)),
      ctx.db.select({ report: slurmPartitions.report }).from(slurmPartitions).where(eq(slurmPartitions.clusterId, cluster.id)),
      ctx.db.select({ report: slurmJobs.report }).from(slurmJobs).where(eq(slurmJobs.clusterId, cluster.id)),
    ])
    const partitions = partitionRows.map(({ report }) => report).filter(({ name }) => !partition || name === partition)
    const state = {
      partitions,
      nodes: nodeRows.map(({ report }) => report),
      jobs: jobRows.map(({ report }) => report),
      reservations: cluster.reservations,
    }
    const begin = performance.now()
    const isOutOfTime = () => spentMs + performance.now() - begin > MAX_MS
    for (const estimate of estimateStarts(state, request, Date.now(), isOutOfTime)) estimates.push({ ...estimate, cluster })
    spentMs += performance.now() - begin
  }
  const key = ({ startAt }: SlurmStartEstimate) => startAt ?? Number.POSITIVE_INFINITY
  return estimates.sort((a, b) => (key(a) === key(b) ? 0 : key(a) - key(b)) || a.jobsAhead - b.jobsAhead)
}
