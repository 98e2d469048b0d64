import { isOneOf, visibleTo } from '@muster/core/db'
import { type Ctx, schema } from '@muster/core/registry'
import { type ClusterSnippets, type ConfigFiles, compareSnippets, isSnippetOf } from '@muster/core/slurm-configs'
import { and, arrayOverlaps, desc, eq, exists, inArray, or, sql } from 'drizzle-orm'
import { loader } from '../shared/loaders.ts'

const { slurmClusters, slurmConfigSnippets, slurmConfigVersions } = schema
/** Clusters per statement: their files may have megabytes each. */
const CHUNK = 50

/** `newest` are the files of the newest version; null when there is none, or the cluster has no snippets. */
export type SnippetPreviewRow = ClusterSnippets & { clusterId: string; newest: ConfigFiles | null }
type ClusterSnippetsRow = Omit<SnippetPreviewRow, 'newest' | 'files'>

/** The snippets of a cluster with their states, by the ID of the cluster. The files of many clusters would fill the memory. */
export const loadClusterSnippets = loader<ClusterSnippetsRow>(async ({ ctx }, ids) => {
  const found = new Map<string, ClusterSnippetsRow>()
  for (let i = 0; i < ids.length; i += CHUNK)
    for (const { newest: _, files: __, ...row } of await readClusterSnippets(ctx, ids.slice(i, i + CHUNK)))
      found.set(row.clusterId, row)
  return found
})

/** The same with what applying them would store. */
export const loadSnippetPreviews = loader<SnippetPreviewRow>(async ({ ctx }, ids) => {
  const rows = await readClusterSnippets(ctx, ids)
  return new Map(rows.map((row) => [row.clusterId, row]))
})

/** The newest version of each cluster, without its files. */
function newestVersions(ctx: Ctx) {
  const { clusterId, number, snippets } = slurmConfigVersions
  return ctx.db
    .selectDistinctOn([clusterId], { clusterId, number, names: snippets })
    .from(slurmConfigVersions)
    .where(visibleTo(ctx, slurmConfigVersions))
    .orderBy(clusterId, desc(number))
    .as('newest')
}

async function readClusterSnippets(ctx: Ctx, ids: readonly string[]): Promise<SnippetPreviewRow[]> {
  const newest = newestVersions(ctx)
  const { id, name, region, reuseConfig, version, configNumber } = slurmClusters
  const clusters = await ctx.db
    .select({ id, name, region, reuseConfig, version, configNumber, newestNumber: newest.number, names: newest.names })
    .from(slurmClusters)
    .leftJoin(newest, eq(newest.clusterId, id))
    .where(and(visibleTo(ctx, slurmClusters), isOneOf(id, [...ids])))
  const snippets = await readSnippets(ctx, clusters)
  const affected = clusters.filter(
    (cluster) => cluster.names?.length || snippets.some((snippet) => isSnippetOf(snippet, cluster)),
  )
  const versions = await readVersions(ctx, affected)
  return clusters.map((cluster) => {
    const clusterId = cluster.id
    if (!affected.includes(cluster)) {
      const blockedReason = `No snippet is for the cluster ${cluster.name}.`
      return { clusterId, newest: null, snippets: [], files: null, blockedReason, isUpToDate: false, fingerprint: null }
    }
    const find = (number: number | null) => versions.find((one) => one.clusterId === clusterId && one.number === number) ?? null
    const last = find(cluster.newestNumber)
    return { clusterId, newest: last?.files ?? null, ...compareSnippets(cluster, snippets, last, find(cluster.configNumber)) }
  })
}

/** The snippets of these clusters, and snippets that their newest versions contain. */
function readSnippets(ctx: Ctx, clusters: { id: string; region: string | null; names: string[] | null }[]) {
  const regions = clusters.flatMap(({ region }) => region ?? [])
  const names = clusters.flatMap(({ names }) => names ?? [])
  const ids = clusters.map(({ id }) => id)
  const table = slurmConfigSnippets
  const isAffecting = or(
    ids.length > 0 ? arrayOverlaps(table.clusterIds, ids) : sql`false`,
    regions.length > 0 ? arrayOverlaps(table.regions, regions) : undefined,
    names.length > 0 ? inArray(table.name, names) : undefined,
  )
  return ctx.db
    .select()
    .from(table)
    .where(and(visibleTo(ctx, table), isAffecting))
}

/** The newest version of each cluster and the one that was rolled out, with their files. */
async function readVersions(ctx: Ctx, clusters: { id: string; newestNumber: number | null; configNumber: number | null }[]) {
  const { clusterId, number, files } = slurmConfigVersions
  const wanted = clusters.flatMap(({ id, newestNumber, configNumber }) =>
    [...new Set([newestNumber, configNumber])].flatMap((one) => (one === null ? [] : and(eq(clusterId, id), eq(number, one)))),
  )
  if (wanted.length === 0) return []
  return ctx.db
    .select({ clusterId, number, files })
    .from(slurmConfigVersions)
    .where(and(visibleTo(ctx, slurmConfigVersions), or(...wanted)))
}

const isSelected = or(
  sql`${slurmClusters.id} = any(${slurmConfigSnippets.clusterIds})`,
  sql`${slurmClusters.region} = any(${slurmConfigSnippets.regions})`,
)

/** IDs of the clusters of a snippet, and of clusters that contain it in their newest version; ordered by name. */
export const loadSnippetClusters = loader<string[]>(async ({ ctx }, ids) => {
  const newest = newestVersions(ctx)
  const rows = await ctx.db
    .select({ id: slurmConfigSnippets.id, clusterId: slurmClusters.id })
    .from(slurmConfigSnippets)
    .innerJoin(slurmClusters, eq(slurmClusters.tenantId, slurmConfigSnippets.tenantId))
    .leftJoin(newest, eq(newest.clusterId, slurmClusters.id))
    .where(
      and(
        visibleTo(ctx, slurmConfigSnippets),
        isOneOf(slurmConfigSnippets.id, [...ids]),
        or(isSelected, sql`${slurmConfigSnippets.name} = any(${newest.names})`),
      ),
    )
    .orderBy(slurmClusters.name)
  return new Map(ids.map((id) => [id, rows.filter((row) => row.id === id).map(({ clusterId }) => clusterId)]))
})

/** IDs of all clusters with a snippet, selected or in their newest version; ordered by name. */
export async function readClustersWithSnippets(ctx: Ctx): Promise<string[]> {
  const newest = newestVersions(ctx)
  const named = ctx.db
    .select({ id: slurmConfigSnippets.id })
    .from(slurmConfigSnippets)
    .where(and(visibleTo(ctx, slurmConfigSnippets), isSelected))
  const rows = await ctx.db
    .select({ id: slurmClusters.id })
    .from(slurmClusters)
    .leftJoin(newest, eq(newest.clusterId, slurmClusters.id))
    .where(and(visibleTo(ctx, slurmClusters), or(sql`cardinality(${newest.names}) > 0`, exists(named))))
    .orderBy(slurmClusters.name)
  return rows.map(({ id }) => id)
}
