import { tenantPermissions } from '@muster/core/access'
import { isOneOf, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { type Ctx, schema } from '@muster/core/registry'
import {
  applySlurmConfigSnippets,
  type ClusterSnippet,
  createSlurmConfigSnippet,
  deleteSlurmConfigSnippet,
  SNIPPET_FILES,
  type SNIPPET_STATES,
  slurmConfigAudit,
  snippetStates,
  updateSlurmConfigSnippet,
} from '@muster/core/slurm-configs'
import { and, arrayOverlaps, desc, eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { rowId } from '../shared/ids.ts'
import { loader } from '../shared/loaders.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { SlurmConfigFile, SlurmConfigVersion } from './types.ts'

const { slurmClusters, slurmConfigSnippets, slurmConfigVersions } = schema
const MAX_CLUSTERS = 50
/** Clusters per statement: their files may have megabytes each. */
const CHUNK = 50
const MAX_SNIPPETS = 500

/** The snippets of a cluster with their states, by the ID of the cluster. */
const loadClusterSnippets = loader<ClusterSnippet[]>(async ({ ctx }, ids) => {
  const found = new Map<string, ClusterSnippet[]>()
  for (let i = 0; i < ids.length; i += CHUNK)
    for (const [id, states] of await readClusterSnippets(ctx, ids.slice(i, i + CHUNK))) found.set(id, states)
  return found
})

async function readClusterSnippets(ctx: Ctx, ids: readonly string[]): Promise<Map<string, ClusterSnippet[]>> {
  const snippets = await ctx.db
    .select()
    .from(slurmConfigSnippets)
    .where(and(visibleTo(ctx, slurmConfigSnippets), arrayOverlaps(slurmConfigSnippets.clusterIds, [...ids])))
    .orderBy(slurmConfigSnippets.name)
  const concerned = new Set(snippets.flatMap(({ clusterIds }) => clusterIds))
  const withSnippets = ids.filter((id) => concerned.has(id))
  const clusters = await ctx.db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), isOneOf(slurmClusters.id, withSnippets)))
  const { clusterId, number, files } = slurmConfigVersions
  const inClusters = and(visibleTo(ctx, slurmConfigVersions), isOneOf(clusterId, withSnippets))
  const newest = await ctx.db
    .selectDistinctOn([clusterId], { clusterId, number, files })
    .from(slurmConfigVersions)
    .where(inClusters)
    .orderBy(clusterId, desc(number))
  const rolledOut = await ctx.db
    .select({ clusterId, number, files })
    .from(slurmConfigVersions)
    .innerJoin(slurmClusters, and(eq(slurmClusters.id, clusterId), eq(slurmClusters.configNumber, number)))
    .where(inClusters)
  const byCluster = (rows: typeof newest) => new Map(rows.map((row) => [row.clusterId, row]))
  const [newestOf, rolledOutOf] = [byCluster(newest), byCluster(rolledOut)]
  return new Map(
    clusters.map((cluster) => {
      const own = snippets.filter(({ clusterIds }) => clusterIds.includes(cluster.id))
      return [cluster.id, snippetStates(cluster, own, newestOf.get(cluster.id) ?? null, rolledOutOf.get(cluster.id) ?? null)]
    }),
  )
}

const SlurmSnippetState = builder.enumType('SlurmSnippetState', {
  description: 'State of a snippet in the configuration of a cluster.',
  values: same({
    ROLLED_OUT: 'The version that the hosts should have has its lines.',
    PROPOSED: 'The newest version has its lines, and is not rolled out.',
    DIFFERS: 'The newest version does not have its lines, or has others.',
    CONFLICT: 'The configuration sets one of its keys elsewhere.',
    NOT_MANAGED: 'The configuration is reused, or was not imported.',
  } satisfies Record<(typeof SNIPPET_STATES)[number], string>),
})

const SlurmClusterSnippet = builder.objectRef<ClusterSnippet>('SlurmClusterSnippet')

const SlurmConfigSnippet = builder.drizzleNode('slurmConfigSnippets', {
  name: 'SlurmConfigSnippet',
  description: 'Lines of configuration files that several Slurm clusters have.',
  select: { columns: { id: true } },
  id: { column: (snippet) => snippet.id, description: 'ID of the snippet.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant. It marks the lines in the files.' }),
    version: t.exposeInt('version', { description: 'Version, from 1, for `updateSlurmConfigSnippet`.' }),
    files: t.field({
      type: [SlurmConfigFile],
      description: 'Its lines by file, slurm.conf first; at most 3.',
      select: { columns: { files: true } },
      resolve: ({ files }) => SNIPPET_FILES.flatMap((name) => (files[name] ? [{ name, text: files[name] }] : [])),
    }),
    clusters: t.field({
      type: [SlurmClusterSnippet],
      description: `Its clusters with the states of their configurations; at most ${MAX_CLUSTERS}.`,
      complexity: 20,
      select: { columns: { id: true, clusterIds: true } },
      resolve: async ({ id, clusterIds }, _args, context) => {
        const found = await Promise.all(clusterIds.slice(0, MAX_CLUSTERS).map((one) => loadClusterSnippets(context, one)))
        return found.flatMap((states) => states?.filter(({ snippet }) => snippet.id === id) ?? [])
      },
    }),
    createdBy: t.field(actorField('created', 'Actor that created it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
})
const snippetConnection = connectionTypes(SlurmConfigSnippet, 'SlurmConfigSnippet', 'configuration snippets')

SlurmClusterSnippet.implement({
  description: 'A snippet of a cluster.',
  fields: (t) => ({
    cluster: t.field({
      type: SlurmCluster,
      description: 'The cluster.',
      resolve: ({ clusterId }) => ({ id: clusterId }) as typeof SlurmCluster.$inferType,
    }),
    snippet: t.field({
      type: SlurmConfigSnippet,
      description: 'The snippet.',
      resolve: ({ snippet }) => snippet as typeof SlurmConfigSnippet.$inferType,
    }),
    state: t.expose('state', {
      type: SlurmSnippetState,
      description: 'State of the snippet in the configuration of the cluster.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'Details and the next step; null when it is rolled out.' }),
  }),
})

builder.drizzleObjectField(SlurmCluster, 'configSnippets', (t) =>
  t.field({
    type: [SlurmClusterSnippet],
    description: `Its snippets by name, with their states; at most ${MAX_SNIPPETS}.`,
    complexity: 20,
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => ((await loadClusterSnippets(context, id)) ?? []).slice(0, MAX_SNIPPETS),
  }),
)

builder.queryFields((t) => ({
  slurmConfigSnippets: t.drizzleConnection(
    {
      type: SlurmConfigSnippet,
      description: 'Configuration snippets of Slurm clusters, ordered by name.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(slurmConfigSnippets, visibleTo(ctx, slurmConfigSnippets)),
      resolve: (query, _root, _args, { ctx }) =>
        ctx.db.query.slurmConfigSnippets.findMany(query({ where: { tenantId: ctx.tenantId }, orderBy: { name: 'asc' } })),
    },
    ...snippetConnection,
  ),
  slurmConfigSnippet: t.drizzleField({
    type: SlurmConfigSnippet,
    nullable: true,
    description: 'Configuration snippet with this name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.slurmConfigSnippets.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
}))

const SlurmSnippetFilesInput = builder.inputType('SlurmSnippetFilesInput', {
  description: 'Lines of a snippet by file. Each text may have at most 100,000 characters.',
  fields: (t) => ({
    slurmConf: t.string({ description: 'Lines of slurm.conf.' }),
    gresConf: t.string({ description: 'Lines of gres.conf.' }),
    cgroupConf: t.string({ description: 'Lines of cgroup.conf.' }),
  }),
})
const filesOf = ({ slurmConf, gresConf, cgroupConf }: typeof SlurmSnippetFilesInput.$inferInput) => ({
  ...(slurmConf == null ? {} : { 'slurm.conf': slurmConf }),
  ...(gresConf == null ? {} : { 'gres.conf': gresConf }),
  ...(cgroupConf == null ? {} : { 'cgroup.conf': cgroupConf }),
})
const clusterRows = (ids: readonly string[]) => ids.map((id) => rowId('SlurmCluster', id))

const errors = [Conflict, NotFound]
const reason = (t: InputFields) => ({
  reason: t.string({ required: true, description: 'Reason, at most 200 characters, for the history and the audit log.' }),
})
const payload = { slurmConfigSnippet: { type: SlurmConfigSnippet, description: 'The snippet, with the states of its clusters.' } }
const asSnippet = (row: unknown) => ({ slurmConfigSnippet: row as typeof SlurmConfigSnippet.$inferType })

mutation('createSlurmConfigSnippet', {
  description:
    'Creates a configuration snippet, and stores a version with its lines for each of its clusters. Nothing is rolled out; the states of its clusters name conflicts.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of 1 to 63 letters, digits, dots, dashes or underscores.' }),
    files: t.field({ type: SlurmSnippetFilesInput, required: true, description: 'Its lines.' }),
    clusterIds: t.idList({ required: true, description: `Its clusters; at most ${MAX_CLUSTERS}.` }),
    ...reason(t),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async ({ files, clusterIds, ...input }, { ctx }) =>
    asSnippet(await createSlurmConfigSnippet(ctx, { ...input, files: filesOf(files), clusterIds: clusterRows(clusterIds) })),
})

mutation('updateSlurmConfigSnippet', {
  description:
    'Changes a configuration snippet, and stores a version for each cluster that has it or had it. Omitted fields keep their values. Nothing is rolled out.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the snippet.' }),
    expectedVersion: t.int({ required: true, description: 'Version that was edited; another one is a conflict.' }),
    files: t.field({ type: SlurmSnippetFilesInput, description: 'Its lines; they replace those of all files.' }),
    clusterIds: t.idList({ description: `Its clusters; at most ${MAX_CLUSTERS}.` }),
    ...reason(t),
  }),
  payload,
  errors,
  resolve: async ({ id, files, clusterIds, ...input }, { ctx }) =>
    asSnippet(
      await updateSlurmConfigSnippet(ctx, {
        ...input,
        id: rowId('SlurmConfigSnippet', id),
        ...(files ? { files: filesOf(files) } : {}),
        ...(clusterIds ? { clusterIds: clusterRows(clusterIds) } : {}),
      }),
    ),
})

mutation('deleteSlurmConfigSnippet', {
  description:
    'Deletes a configuration snippet, and stores a version without its lines for each of its clusters. Nothing is rolled out.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the snippet.' }), ...reason(t) }),
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async ({ id, reason }, { ctx }) => {
    await deleteSlurmConfigSnippet(ctx, { id: rowId('SlurmConfigSnippet', id), reason })
    return { deletedId: id }
  },
})

mutation('applySlurmConfigSnippets', {
  description:
    'Stores a version of the configuration of a cluster that has the lines of its snippets: after an import, an edit or the end of a conflict. It is not rolled out.',
  input: (t) => ({ clusterId: t.id({ required: true, description: 'ID of the cluster.' }), ...reason(t) }),
  idempotent: true,
  action: slurmConfigAudit.create,
  payload: { slurmConfigVersion: { type: SlurmConfigVersion, description: 'The new version.' } },
  errors,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmConfigVersion: await applySlurmConfigSnippets(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})
