import { refreshClusterBlockedReason, slurmrestdProblem, updateClusterBlockedReason } from '@muster/core/clusters'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { SlurmClusterKind, SlurmClusterState } from './enums.ts'
import { jobConditions, nodeConditions, SlurmJobFilter, SlurmNodeFilter } from './filters.ts'
import { slurmJobConnection } from './jobs.ts'
import { slurmNodeConnection } from './nodes.ts'
import { slurmPartitionConnection } from './partitions.ts'
import { SlurmController, SlurmLicense, SlurmQueryReport, SlurmReservation, SlurmScheduler, SlurmSetting } from './reports.ts'
import { SlurmClusterTotals } from './totals.ts'

export const SlurmCluster = builder.drizzleNode('slurmClusters', {
  name: 'SlurmCluster',
  description: 'A Slurm cluster.',
  select: { columns: { id: true } },
  id: { column: (cluster) => cluster.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    kind: t.expose('kind', { type: SlurmClusterKind, description: 'Kind of the cluster.' }),
    region: t.exposeString('region', { nullable: true, description: 'Region; null when not set.' }),
    state: t.expose('state', { type: SlurmClusterState, description: 'Whether its data is current.' }),
    controllerNode: t.relation('controllerNode', {
      nullable: true,
      description: 'Node on which Muster runs the commands of Slurm; null when it was deleted.',
    }),
    backupNode: t.relation('backupNode', {
      nullable: true,
      description: 'Node that is used when `controllerNode` does not answer; null for none.',
    }),
    databaseNode: t.relation('databaseNode', {
      nullable: true,
      description: 'Node on which Muster installed slurmdbd and its database; null for none.',
    }),
    programFolder: t.exposeString('programFolder', {
      nullable: true,
      description: "Folder of Slurm's programs on these nodes; null when they are on the path.",
    }),
    reuseConfig: t.exposeBoolean('reuseConfig', { description: 'Whether Muster never writes slurm.conf.' }),
    reuseMungeKey: t.exposeBoolean('reuseMungeKey', {
      description: 'Whether Muster never writes munge.key: true unless the cluster is managed.',
    }),
    reuseDatabase: t.exposeBoolean('reuseDatabase', {
      description: 'Whether Muster never writes the accounting database: true unless it has set the database up.',
    }),
    maxNodes: t.exposeInt('maxNodes', { nullable: true, description: 'A scale-out beyond it is refused; null without a limit.' }),
    saltCredential: t.relation('saltCredential', {
      nullable: true,
      description: 'Login at its salt-api; null when it does not use Salt.',
    }),
    saltEauth: t.exposeString('saltEauth', {
      nullable: true,
      description: 'External authentication of the login, for example `pam`; null without Salt.',
    }),
    saltCaCertificate: t.exposeString('saltCaCertificate', {
      nullable: true,
      description: 'Certificates of the only accepted authorities of salt-api, in PEM; null for those that the workers trust.',
    }),
    saltInstalls: t.exposeBoolean('saltInstalls', {
      description: 'Whether the packages of Slurm are installed and removed with the state `slurm.node` of the site.',
    }),

    slurmrestdSocket: t.exposeString('slurmrestdSocket', {
      nullable: true,
      description: "Unix socket of slurmrestd on the controller's host; null when it is not used.",
    }),
    slurmrestdCredential: t.relation('slurmrestdCredential', {
      nullable: true,
      description: 'Host, port, user name and token of slurmrestd; null when it is not used.',
    }),
    slurmrestdCaCertificate: t.exposeString('slurmrestdCaCertificate', {
      nullable: true,
      description: 'Certificates of the only accepted authorities of slurmrestd, in PEM; null for those that the workers trust.',
    }),
    slurmrestdProblem: t.string({
      nullable: true,
      description:
        'Why the last refresh read with commands what slurmrestd should report, and the next step; null when slurmrestd reported it, or is not used.',
      select: { columns: { queries: true } },
      resolve: slurmrestdProblem,
    }),

    originalClusterName: t.exposeString('originalClusterName', {
      nullable: true,
      description: 'ClusterName of slurm.conf when it was first read; null before.',
    }),
    clusterName: t.exposeString('clusterName', {
      nullable: true,
      description: 'ClusterName of slurm.conf; null before it is read.',
    }),
    version: t.exposeString('version', {
      nullable: true,
      description: 'Version of Slurm, for example `23.11.4`; null before it is read.',
    }),
    controllers: t.expose('controllers', {
      type: [SlurmController],
      description: 'Its controllers, the primary first; at most 10.',
    }),
    settings: t.field({
      type: [SlurmSetting],
      description: 'Its configuration, by name; at most 1,000.',
      select: { columns: { settings: true } },
      resolve: ({ settings }) =>
        Object.entries(settings)
          .slice(0, 1000)
          .map(([name, value]) => ({ name, value })),
    }),
    settingsReadAt: t.expose('settingsReadAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the configuration was read; null before, and when it will be read again at the next refresh.',
    }),
    reservations: t.field({
      type: [SlurmReservation],
      description: 'Its reservations; at most 1,000.',
      select: { columns: { reservations: true } },
      resolve: ({ reservations }) => reservations.slice(0, 1000),
    }),
    licenses: t.field({
      type: [SlurmLicense],
      description: 'Its licenses; at most 1,000.',
      select: { columns: { licenses: true } },
      resolve: ({ licenses }) => licenses.slice(0, 1000),
    }),
    scheduler: t.expose('scheduler', {
      type: SlurmScheduler,
      nullable: true,
      description: 'Statistics of slurmctld; null when they could not be read.',
    }),
    totals: t.field({
      type: SlurmClusterTotals,
      description: 'Numbers of nodes, CPUs, GPUs and jobs.',
      select: { columns: { id: true } },
      resolve: ({ id }) => ({ id }),
    }),

    queries: t.expose('queries', {
      type: [SlurmQueryReport],
      description: 'The commands of the last refresh and its requests to slurmrestd; at most 20.',
    }),
    discoveredAt: t.expose('discoveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was read for the first time; null before.',
    }),
    refreshedAt: t.expose('refreshedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the last refresh that succeeded: nodes, jobs and partitions are of this time. Null before the first.',
    }),
    readNode: t.relation('readNode', {
      nullable: true,
      description: 'Node through which the last refresh that succeeded read it; null before, and when the node was deleted.',
    }),
    fallbackReason: t.exposeString('fallbackReason', {
      nullable: true,
      description: 'Why that refresh did not use `controllerNode`; null when it did.',
    }),
    refreshDurationMs: t.exposeInt('refreshDurationMs', { nullable: true, description: 'Duration of the last refresh in ms.' }),
    isRefreshing: t.boolean({
      description: 'Whether a worker reads it now.',
      select: { columns: {}, extras: { isRefreshing: (c) => sql<boolean>`coalesce(${c.claimedUntil} > now(), false)` } },
      resolve: ({ isRefreshing }) => isRefreshing,
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when no refresh succeeded; null after a success.',
    }),
    failureCount: t.exposeInt('failureCount', { description: 'Number of refreshes that failed since the last success.' }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description: 'Why the last refresh failed; null after a success.',
    }),
    nextRefreshAt: t.expose('nextRefreshAt', {
      type: 'DateTime',
      description: 'When it is read next. The interval grows while it does not answer, and for a slow controller.',
    }),
    createdBy: t.field(actorField('created', 'Actor that added it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When its row was last written; every refresh writes it.',
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change or remove it, or match its nodes; null when allowed.',
      resolve: (_cluster, _args, { ctx }) => updateClusterBlockedReason(ctx.actor),
    }),
    refreshBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot read it at once; null when allowed.',
      select: { columns: { id: true, name: true, controllerNodeId: true, backupNodeId: true } },
      resolve: (cluster, _args, { ctx }) => refreshClusterBlockedReason(ctx.actor, cluster),
    }),

    nodes: t.relatedConnection(
      'nodes',
      {
        description: 'Its nodes, ordered by name.',
        args: { filter: t.arg({ type: SlurmNodeFilter, description: 'Filter.' }) },
        totalCount: true,
        query: ({ filter }) => ({
          where: { RAW: (n) => nodeConditions(filter, n) ?? sql`true` },
          orderBy: { name: 'asc' },
        }),
        ...PAGED,
      },
      ...slurmNodeConnection,
    ),
    partitions: t.relatedConnection(
      'partitions',
      { description: 'Its partitions, ordered by name.', totalCount: true, query: { orderBy: { name: 'asc' } }, ...PAGED },
      ...slurmPartitionConnection,
    ),
    jobs: t.relatedConnection(
      'jobs',
      {
        description: 'Its jobs, in the order in which Muster first saw them, newest first.',
        args: { filter: t.arg({ type: SlurmJobFilter, description: 'Filter.' }) },
        totalCount: true,
        query: ({ filter }) => ({
          where: { RAW: (j) => jobConditions(filter, j) ?? sql`true` },
          orderBy: { id: 'desc' },
        }),
        ...PAGED,
      },
      ...slurmJobConnection,
    ),
  }),
})

export const slurmClusterConnection = connectionTypes(SlurmCluster, 'SlurmCluster', 'Slurm clusters')
