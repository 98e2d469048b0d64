import { tenantPermissions } from '@muster/core/access'
import { clusterDeniedReason } from '@muster/core/clusters'
import { visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import {
  applySlurmConfigSnippets,
  type ClusterSnippet,
  createSlurmConfigSnippet,
  deleteSlurmConfigSnippet,
  diffConfig,
  SNIPPET_FILES,
  type SNIPPET_STATES,
  slurmConfigAudit,
  slurmConfigPermissions,
  updateSlurmConfigSnippet,
} from '@muster/core/slurm-configs'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { rowId } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import {
  loadClusterSnippets,
  loadSnippetClusters,
  loadSnippetPreviews,
  type SnippetPreviewRow as Row,
  readClustersWithSnippets,
} from './snippet-loaders.ts'
import { SlurmConfigDiff, SlurmConfigFile, SlurmConfigVersion } from './types.ts'

const { slurmConfigSnippets } = schema
const MAX_CLUSTERS = 500
const MAX_REGIONS = 100
const MAX_SNIPPETS = 500

const SlurmSnippetState = builder.enumType('SlurmSnippetState', {
  description: 'State of a snippet in the configuration of a cluster.',
  values: same({
    ROLLED_OUT: 'The version that the hosts should have has its lines.',
    PROPOSED: 'The newest version has its lines, and is not rolled out.',
    NOT_APPLIED:
      'The newest version does not have its lines, has others, or still has lines although the snippet is not for the cluster.',
    CONFLICT: 'The configuration sets one of its keys elsewhere.',
    NOT_MANAGED: 'The configuration is reused, or was not imported.',
  } satisfies Record<(typeof SNIPPET_STATES)[number], string>),
})

const asCluster = (id: string) => ({ id }) as typeof SlurmCluster.$inferType

const SlurmClusterSnippet = builder.objectRef<ClusterSnippet>('SlurmClusterSnippet')

const SlurmConfigSnippet = builder.drizzleNode('slurmConfigSnippets', {
  name: 'SlurmConfigSnippet',
  description: 'Configuration lines for selected Slurm clusters and for all clusters of selected regions.',
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
    regions: t.exposeStringList('regions', {
      description: `Regions: it is for all of their clusters, also for those that are added later. At most ${MAX_REGIONS}.`,
    }),
    chosenClusters: t.field({
      type: [SlurmCluster],
      description: `Clusters selected by ID, ordered by name; at most ${MAX_CLUSTERS}. Clusters of its regions are not listed unless selected.`,
      complexity: 20,
      select: { columns: { id: true, clusterIds: true } },
      resolve: async ({ id, clusterIds }, _args, context) => {
        const ids = (await loadSnippetClusters(context, id)) ?? []
        return ids.filter((one) => clusterIds.includes(one)).map(asCluster)
      },
    }),
    clusterCount: t.int({
      description: 'Number of all clusters with the snippet; `clusters` lists a limited number of them.',
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => ((await loadSnippetClusters(context, id)) ?? []).length,
    }),
    clusters: t.field({
      type: [SlurmClusterSnippet],
      description: `Clusters of the snippet, and clusters that still have its lines in their newest version; ordered by name, at most ${MAX_CLUSTERS}.`,
      complexity: 20,
      select: { columns: { id: true, name: true } },
      resolve: async ({ id, name }, _args, context) => {
        const ids = ((await loadSnippetClusters(context, id)) ?? []).slice(0, MAX_CLUSTERS)
        const found = await Promise.all(ids.map((one) => loadClusterSnippets(context, one)))
        return found.flatMap((row) => row?.snippets.filter((one) => one.name === name) ?? [])
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
      resolve: ({ clusterId }) => asCluster(clusterId),
    }),
    name: t.exposeString('name', { description: 'Name of the snippet.' }),
    snippet: t.field({
      type: SlurmConfigSnippet,
      nullable: true,
      description: 'The snippet; null when it was deleted, and the configuration still has its lines.',
      resolve: ({ snippet }) => snippet as typeof SlurmConfigSnippet.$inferType | null,
    }),
    state: t.expose('state', {
      type: SlurmSnippetState,
      description: 'State of the snippet in the configuration of the cluster.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'Details and the next step; null when it is rolled out.' }),
  }),
})

const SlurmConfigSnippetPreview = builder
  .objectRef<Row & { deniedReason: string | null }>('SlurmConfigSnippetPreview')
  .implement({
    description: 'What `applySlurmConfigSnippets` would store for a cluster.',
    fields: (t) => ({
      diff: t.field({
        type: [SlurmConfigDiff],
        description: 'Files that differ from those of the newest version; at most 3.',
        resolve: ({ newest, files }) => (newest && files ? diffConfig(newest, files) : []),
      }),
      blockedReason: t.string({
        nullable: true,
        description: 'Why there is nothing to store, or the caller may not do it; null when it is possible.',
        resolve: ({ deniedReason, blockedReason }) => deniedReason ?? blockedReason,
      }),
      isUpToDate: t.exposeBoolean('isUpToDate', {
        description:
          'Whether the newest version has the lines of all snippets of the cluster, so that there is nothing to store.',
      }),
      fingerprint: t.exposeString('fingerprint', {
        nullable: true,
        description: 'Hash of the previewed result for `applySlurmConfigSnippets`; null when there is nothing to store.',
      }),
    }),
  })

builder.drizzleObjectFields(SlurmCluster, (t) => ({
  configSnippets: t.field({
    type: [SlurmClusterSnippet],
    description: `Its snippets with their states, and others that its newest version has lines of; at most ${MAX_SNIPPETS}.`,
    complexity: 20,
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => ((await loadClusterSnippets(context, id))?.snippets ?? []).slice(0, MAX_SNIPPETS),
  }),
  configSnippetPreview: t.field({
    type: SlurmConfigSnippetPreview,
    nullable: true,
    description: 'What applying its snippets would store.',
    complexity: 20,
    select: { columns: { id: true, name: true } },
    resolve: async (cluster, _args, context) => {
      const row = await loadSnippetPreviews(context, cluster.id)
      return row && { ...row, deniedReason: clusterDeniedReason(context.ctx.actor, slurmConfigPermissions.write, cluster) }
    },
  }),
}))

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
  slurmClustersWithUnappliedSnippets: t.field({
    type: [SlurmCluster],
    description: `Slurm clusters with a snippet in the state NOT_APPLIED, by name; at most ${MAX_CLUSTERS}.`,
    authScopes: { permission: tenantPermissions.read },
    complexity: 20,
    resolve: async (_root, _args, context) => {
      const ids = await readClustersWithSnippets(context.ctx)
      const rows = await Promise.all(ids.map((id) => loadClusterSnippets(context, id)))
      const unapplied = rows.filter((row) => row?.snippets.some(({ state }) => state === 'NOT_APPLIED'))
      return unapplied.slice(0, MAX_CLUSTERS).map((row) => asCluster(row!.clusterId))
    },
  }),
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
    'Creates a configuration snippet. It changes no configuration: `applySlurmConfigSnippets` does, cluster by cluster.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of 1 to 63 letters, digits, dots, dashes or underscores.' }),
    files: t.field({ type: SlurmSnippetFilesInput, required: true, description: 'Its lines.' }),
    clusterIds: t.idList({ required: true, description: `Clusters that it is for; at most ${MAX_CLUSTERS}.` }),
    regions: t.stringList({ description: `Regions: it is for all of their clusters. At most ${MAX_REGIONS}.` }),
    ...reason(t),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async ({ files, clusterIds, regions, ...input }, { ctx }) =>
    asSnippet(
      await createSlurmConfigSnippet(ctx, {
        ...{ ...input, files: filesOf(files), clusterIds: clusterRows(clusterIds) },
        ...(regions ? { regions } : {}),
      }),
    ),
})

mutation('updateSlurmConfigSnippet', {
  description:
    'Changes a configuration snippet. Omitted fields keep their values. It changes no configuration: `applySlurmConfigSnippets` does, cluster by cluster.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the snippet.' }),
    expectedVersion: t.int({ required: true, description: 'Version that was edited; another one is a conflict.' }),
    files: t.field({ type: SlurmSnippetFilesInput, description: 'Its lines; they replace those of all files.' }),
    clusterIds: t.idList({ description: `Clusters that it is for; they replace the list. At most ${MAX_CLUSTERS}.` }),
    regions: t.stringList({ description: `Regions that it is for; they replace the list. At most ${MAX_REGIONS}.` }),
    ...reason(t),
  }),
  payload,
  errors,
  resolve: async ({ id, files, clusterIds, regions, ...input }, { ctx }) =>
    asSnippet(
      await updateSlurmConfigSnippet(ctx, {
        ...input,
        id: rowId('SlurmConfigSnippet', id),
        ...(files ? { files: filesOf(files) } : {}),
        ...(clusterIds ? { clusterIds: clusterRows(clusterIds) } : {}),
        ...(regions ? { regions } : {}),
      }),
    ),
})

mutation('deleteSlurmConfigSnippet', {
  description:
    'Deletes a configuration snippet. Configurations keep its lines until `applySlurmConfigSnippets` removes them, cluster by cluster.',
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
    'Stores a version of the configuration of a cluster that has the lines of its snippets, and no lines of others. It is not rolled out.',
  input: (t) => ({
    clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
    fingerprint: t.string({
      required: true,
      description: 'From `SlurmCluster.configSnippetPreview`; at most 100 characters. Another result is a conflict.',
    }),
    ...reason(t),
  }),
  idempotent: true,
  action: slurmConfigAudit.create,
  payload: { slurmConfigVersion: { type: SlurmConfigVersion, description: 'The new version.' } },
  errors,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmConfigVersion: await applySlurmConfigSnippets(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})
