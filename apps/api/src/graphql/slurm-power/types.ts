import {
  type PowerSavingPlan,
  type PowerSavingSettings,
  type SlurmPowerRequest,
  type SlurmPowerSaving,
  type SlurmPowerVerb,
  setPowerSavingBlockedReason,
  slurmPowerRequests,
  slurmPowerSavings,
} from '@muster/core/slurm-power'
import { and, desc, eq, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { same } from '../shared/enum-values.ts'
import { loaderWithArgs } from '../shared/loaders.ts'
import { SlurmConfigDiff, SlurmConfigPlan } from '../slurm-configs/types.ts'

const MAX_REQUESTS = 1000

const Settings = builder.objectRef<PowerSavingSettings>('SlurmPowerSavingSettings').implement({
  description: 'Power saving settings, named like the keys of slurm.conf.',
  fields: (t) => ({
    suspendTimeSeconds: t.exposeInt('suspendTimeSeconds', {
      description: 'Idle time in seconds after which a node is suspended.',
    }),
    suspendTimeoutSeconds: t.exposeInt('suspendTimeoutSeconds', { description: 'Seconds within which a node powers down.' }),
    resumeTimeoutSeconds: t.exposeInt('resumeTimeoutSeconds', {
      description: 'Seconds after which a resumed node that has not registered becomes DOWN.',
    }),
    suspendRate: t.exposeInt('suspendRate', { description: 'Nodes that are suspended per minute, at least 1.' }),
    resumeRate: t.exposeInt('resumeRate', { description: 'Nodes that are resumed per minute, at least 1.' }),
    excludedNodes: t.exposeString('excludedNodes', {
      nullable: true,
      description: 'Hostlist of nodes that are never suspended, in addition to those that cannot be suspended; null: none.',
    }),
    excludedPartitions: t.exposeStringList('excludedPartitions', {
      description: 'Partitions that are excluded: their nodes are never suspended. At most 100.',
    }),
    apiUrl: t.exposeString('apiUrl', { description: 'URL at which the controllers reach the API of Muster.' }),
    caCertificate: t.exposeString('caCertificate', {
      nullable: true,
      description: 'PEM certificates of the only accepted authorities; null: those that the controllers trust.',
    }),
  }),
})

const Verb = builder.enumType('SlurmPowerVerb', {
  description: 'Action that slurmctld requests for a node.',
  values: same({
    SUSPEND: 'Power it off, because it is idle.',
    RESUME: 'Power it on for a job.',
  } satisfies Record<SlurmPowerVerb, string>),
})

const Request = builder.objectRef<SlurmPowerRequest>('SlurmPowerRequest').implement({
  description: 'Last request of slurmctld for a node.',
  fields: (t) => ({
    nodeName: t.exposeString('name', { description: 'Name in Slurm.' }),
    verb: t.expose('verb', { type: Verb, description: 'Requested action.' }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'Time of the request.' }),
    refusedReason: t.exposeString('refusedReason', {
      nullable: true,
      description: 'Why nothing was sent to the BMC yet; null when a power run was started.',
    }),
  }),
})

const PowerSaving = builder.objectRef<SlurmPowerSaving>('SlurmPowerSaving').implement({
  description: 'Power saving of a managed cluster: its controllers power idle nodes off and on.',
  fields: (t) => ({
    settings: t.expose('settings', { type: Settings, description: 'Settings.' }),
    enabledAt: t.expose('enabledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When power saving was turned on; null while it is being set up.',
    }),
    tokenIssuedAt: t.expose('tokenIssuedAt', {
      type: 'DateTime',
      description: 'When the newest token was issued to the controllers. Each change of the settings issues a new one.',
    }),
    requests: t.field({
      type: [Request],
      description: 'Last request for each node, newest first; at most 1,000.',
      resolve: ({ clusterId }, _args, { ctx }) =>
        ctx.db
          .select()
          .from(slurmPowerRequests)
          .where(and(eq(slurmPowerRequests.tenantId, ctx.tenantId), eq(slurmPowerRequests.clusterId, clusterId)))
          .orderBy(desc(slurmPowerRequests.requestedAt), slurmPowerRequests.name)
          .limit(MAX_REQUESTS),
    }),
  }),
})

const Excluded = builder.objectRef<PowerSavingPlan['excluded'][number]>('SlurmPowerSavingExclusion').implement({
  description: 'A node that slurmctld cannot suspend.',
  fields: (t) => ({
    nodeName: t.exposeString('name', { description: 'Name in Slurm.' }),
    reason: t.exposeString('reason', { description: 'Reason for the exclusion, and how to remove it.' }),
  }),
})

export const PowerSavingPreview = builder.objectRef<PowerSavingPlan>('SlurmPowerSavingPreview').implement({
  description: 'Effects of new power saving settings.',
  fields: (t) => ({
    nodeNames: t.stringList({
      description: 'Nodes that may be suspended, by their names in Slurm; at most 10,000.',
      resolve: ({ nodes }) => [...nodes.keys()].slice(0, 10_000),
    }),
    excluded: t.field({
      type: [Excluded],
      description: 'Nodes that are excluded although the settings do not name them; at most 10,000.',
      resolve: ({ excluded }) => excluded.slice(0, 10_000),
    }),
    diff: t.field({
      type: [SlurmConfigDiff],
      description: 'Files that change; at most 4.',
      resolve: ({ config }) => config.diff,
    }),
    plan: t.field({ type: SlurmConfigPlan, description: 'What Slurm does.', resolve: ({ config }) => config.plan }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the settings cannot be applied; null when they can.',
    }),
    fingerprint: t.exposeString('fingerprint', { description: 'For `setSlurmPowerSaving`.' }),
  }),
})

const loadPowerSaving = loaderWithArgs(async ({ ctx }, clusterIds, _args: Record<string, never>) => {
  const rows = await ctx.db
    .select()
    .from(slurmPowerSavings)
    .where(and(eq(slurmPowerSavings.tenantId, ctx.tenantId), inArray(slurmPowerSavings.clusterId, [...clusterIds])))
  return new Map(rows.map((row) => [row.clusterId, row]))
})

builder.drizzleObjectFields(SlurmCluster, (t) => ({
  powerSaving: t.field({
    type: PowerSaving,
    nullable: true,
    description: 'Power saving of the cluster; null when it is off.',
    select: { columns: { id: true } },
    resolve: ({ id }, _args, context) => loadPowerSaving(context, id, {}),
  }),
  setPowerSavingBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller cannot change power saving; null when allowed.',
    select: { columns: { id: true, name: true, kind: true, configNumber: true } },
    resolve: (cluster, _args, { ctx }) => setPowerSavingBlockedReason(ctx.actor, cluster),
  }),
}))
