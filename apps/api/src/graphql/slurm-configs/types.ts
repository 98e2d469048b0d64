import { schema } from '@muster/core/registry'
import {
  CONFIG_FILES,
  type CONFIG_ORIGINS,
  type CONFIG_VALIDATION_STATES,
  type ConfigDiff,
  type ConfigPlan,
  type ConfigProblem,
  type ConfigSetting,
  type ConfigSettingsView,
  type ConfigValidation,
  checkSlurmConfigBlockedReason,
  diffConfig,
  importSlurmConfigBlockedReason,
  type SlurmConfigPreview as Preview,
  readSettings,
  releaseOf,
  type SettingGroup,
  writeSlurmConfigBlockedReason,
} from '@muster/core/slurm-configs'
import { and, desc, eq, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { loaderWithArgs } from '../shared/loaders.ts'

const SlurmConfigOrigin = builder.enumType('SlurmConfigOrigin', {
  description: 'How a version of a configuration came to be.',
  values: same({
    IMPORTED: 'Read from the hosts.',
    CREATED: 'Rendered for a new cluster.',
    EDITED: 'Edited by a user.',
    SCALED_OUT: 'Nodes were added.',
    SCALED_IN: 'Nodes were removed.',
    RESTORED: 'An earlier version was restored.',
    SNIPPETS: 'Lines of snippets changed.',
    POWER_SAVING: 'Power saving was changed.',
  } satisfies Record<(typeof CONFIG_ORIGINS)[number], string>),
})

export const SlurmConfigFile = builder.objectRef<{ name: string; text: string }>('SlurmConfigFile').implement({
  description: 'A configuration file.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, for example `slurm.conf`.' }),
    text: t.exposeString('text', { description: 'Text.' }),
  }),
})

const SlurmConfigLineKind = builder.enumType('SlurmConfigLineKind', {
  description: 'What a line of a diff shows.',
  values: {
    SAME: { value: ' ', description: 'The line is in both versions.' },
    ADDED: { value: '+', description: 'Only in the later version.' },
    REMOVED: { value: '-', description: 'Only in the earlier version.' },
  } as const,
})

const SlurmConfigDiffLine = builder.objectRef<ConfigDiff['lines'][number]>('SlurmConfigDiffLine').implement({
  description: 'A line of a diff.',
  fields: (t) => ({
    kind: t.expose('kind', { type: SlurmConfigLineKind, description: 'In which versions it is.' }),
    text: t.exposeString('text', { description: 'The line.' }),
  }),
})

const MAX_LINES = 20_000
export const SlurmConfigDiff = builder.objectRef<ConfigDiff>('SlurmConfigDiff').implement({
  description: 'How a file differs between two versions.',
  fields: (t) => ({
    file: t.exposeString('file', { description: 'Name of the file.' }),
    lines: t.field({
      type: [SlurmConfigDiffLine],
      description: 'All lines of both versions in order; at most 20,000.',
      resolve: ({ lines }) => lines.slice(0, MAX_LINES),
    }),
  }),
})

const SlurmConfigSeverity = builder.enumType('SlurmConfigSeverity', {
  description: 'Weight of a problem.',
  values: same({
    ERROR: 'A program of Slurm would not start with it, or nodes or jobs would fail.',
    WARNING: 'Slurm accepts it.',
  }),
})

const SlurmConfigProblem = builder.objectRef<ConfigProblem>('SlurmConfigProblem').implement({
  description: 'A problem of a configuration.',
  fields: (t) => ({
    file: t.exposeString('file', { description: 'Name of the file.' }),
    line: t.exposeInt('line', { nullable: true, description: 'Line, from 1; null for the whole file.' }),
    key: t.exposeString('key', { nullable: true, description: 'Key; null when the problem is not about one.' }),
    severity: t.expose('severity', { type: SlurmConfigSeverity, description: 'Weight.' }),
    message: t.exposeString('message', { description: 'What is wrong.' }),
  }),
})

const SlurmControllerChange = builder.enumType('SlurmControllerChange', {
  description: 'What slurmctld needs to use other files.',
  values: same({
    NONE: 'Nothing; they are the same.',
    RECONFIGURE: '`scontrol reconfigure`.',
    RESTART: 'A restart. Jobs go on.',
  }),
})

const MAX_NODES = 10_000
const nodeList = (description: string, read: (plan: ConfigPlan) => string[]) => ({
  description: `${description}; at most 10,000.`,
  resolve: (plan: ConfigPlan) => read(plan).slice(0, MAX_NODES),
})
export const SlurmConfigPlan = builder.objectRef<ConfigPlan>('SlurmConfigPlan').implement({
  description: 'What a rollout does.',
  fields: (t) => ({
    controllers: t.expose('controllers', { type: SlurmControllerChange, description: 'What slurmctld does.' }),
    restartedNodes: t.stringList(nodeList('Nodes whose slurmd restarts; their jobs go on', ({ nodes }) => nodes)),
    addedNodes: t.stringList(nodeList('Nodes that are added', ({ addedNodes }) => addedNodes)),
    removedNodes: t.stringList(nodeList('Nodes that are removed', ({ removedNodes }) => removedNodes)),
    lost: t.exposeStringList('lost', { description: 'What is lost, in sentences; at most 50.' }),
  }),
})

export const SlurmConfigVersion = builder.drizzleNode('slurmConfigVersions', {
  name: 'SlurmConfigVersion',
  description: 'A version of the configuration files of a Slurm cluster. It never changes.',
  select: { columns: { id: true } },
  id: { column: (version) => version.id, description: 'ID of the version.' },
  fields: (t) => ({
    cluster: t.relation('cluster', { description: 'Its cluster.' }),
    number: t.exposeInt('number', { description: 'Number, from 1, in its cluster.' }),
    origin: t.expose('origin', { type: SlurmConfigOrigin, description: 'How it came to be.' }),
    basedOn: t.exposeInt('basedOn', { nullable: true, description: 'Number of the version before; null for the first one.' }),
    reason: t.exposeString('reason', { description: 'Reason that the author gave.' }),
    files: t.field({
      type: [SlurmConfigFile],
      description: 'Its files, slurm.conf first; at most 4.',
      select: { columns: { files: true } },
      resolve: ({ files }) => CONFIG_FILES.flatMap((name) => (files[name] === undefined ? [] : [{ name, text: files[name] }])),
    }),
    createdBy: t.field(actorField('created', 'Author.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time.' }),
  }),
})
const versionConnection = connectionTypes(SlurmConfigVersion, 'SlurmConfigVersion', 'versions of a configuration')

const SlurmConfigValidationState = builder.enumType('SlurmConfigValidationState', {
  description: 'Result of a trial start of slurmctld.',
  values: same({
    ACCEPTED: 'slurmctld started.',
    REFUSED: 'slurmctld ended with an error.',
    SKIPPED: 'It could not be tried.',
  } satisfies Record<(typeof CONFIG_VALIDATION_STATES)[number], string>),
})

const SlurmConfigValidation = builder.objectRef<ConfigValidation>('SlurmConfigValidation').implement({
  description: 'A trial start of slurmctld with a version, apart from the running one.',
  fields: (t) => ({
    state: t.expose('state', { type: SlurmConfigValidationState, description: 'Result of the trial start.' }),
    host: t.exposeString('host', { description: 'Name of the controller node.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'What slurmctld printed, or why it was not tried; null when it started.',
    }),
    validatedAt: t.expose('validatedAt', { type: 'DateTime', description: 'When the trial start ended.' }),
  }),
})

export const SlurmConfigPreview = builder.objectRef<Preview>('SlurmConfigPreview').implement({
  description: 'What a version, or an edited text, would change on a cluster.',
  fields: (t) => ({
    from: t.field({
      type: SlurmConfigVersion,
      nullable: true,
      description: 'The version that the hosts have; null before the import.',
      resolve: ({ from }) => from as typeof SlurmConfigVersion.$inferType | null,
    }),
    release: t.exposeString('release', { description: 'Release of Slurm by which it is judged.' }),
    problems: t.field({
      type: [SlurmConfigProblem],
      description: 'Problems of the files; at most 1,000.',
      resolve: ({ problems }) => problems.slice(0, 1000),
    }),
    diff: t.expose('diff', { type: [SlurmConfigDiff], description: 'Files that differ from those of the hosts; at most 4.' }),
    plan: t.expose('plan', { type: SlurmConfigPlan, description: 'What a rollout would do.' }),
    hosts: t.exposeStringList('hosts', { description: 'Names of the nodes that get the files, in order; at most 10,000.' }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why it cannot be rolled out; null when it can.',
    }),
    validation: t.expose('validation', {
      type: SlurmConfigValidation,
      nullable: true,
      description: 'The last trial start of slurmctld with the version; null when there was none.',
    }),
    fingerprint: t.exposeString('fingerprint', {
      nullable: true,
      description: 'For `rolloutSlurmConfig`, which then refuses another plan; null for text that is not saved.',
    }),
  }),
})

const SlurmConfigValueType = builder.enumType('SlurmConfigValueType', {
  description: 'Type of the value of a key.',
  values: same({
    STRING: 'Text.',
    UINT16: 'Integer from 0 to 65,535.',
    UINT32: 'Integer from 0 to 4,294,967,295.',
    UINT64: 'Integer from 0 to 18,446,744,073,709,551,615.',
    FLOAT: 'Decimal number.',
    BOOLEAN: 'YES or NO.',
    LIST: 'A line that may be repeated.',
  } satisfies Record<ConfigSetting['type'], string>),
})

const SlurmConfigSettingGroup = builder.enumType('SlurmConfigSettingGroup', {
  description: 'What a key of slurm.conf is about.',
  values: same({
    SCHEDULING: 'Order and start of jobs.',
    RESOURCES: 'CPUs, memory and generic resources.',
    PRIORITY: 'Priorities of jobs.',
    LIMITS: 'Limits.',
    TIMEOUTS: 'Timeouts and intervals.',
    NODES: 'Nodes, and programs that run on them.',
    LOGGING: 'Logs.',
  } satisfies Record<SettingGroup, string>),
})

const SlurmConfigSetting = builder.objectRef<ConfigSetting & { group?: SettingGroup }>('SlurmConfigSetting').implement({
  description: 'A key of slurm.conf that administrators change often.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Key, as in slurm.conf(5).' }),
    type: t.expose('type', { type: SlurmConfigValueType, description: 'Type of the value.' }),
    group: t.expose('group', {
      type: SlurmConfigSettingGroup,
      nullable: true,
      description: 'Group of the key; null for keys of partitions and nodes.',
    }),
    description: t.exposeString('description', { description: 'Description with units, in English.' }),
    default: t.exposeString('default', {
      nullable: true,
      description: "Slurm's default; null when there is none or it depends on other keys.",
    }),
    value: t.exposeString('value', { nullable: true, description: 'Value; null when it is not set.' }),
  }),
})

const SlurmConfigEntry = builder.objectRef<ConfigSettingsView['nodes'][number]>('SlurmConfigEntry').implement({
  description: 'A partition, or the nodes of a line.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the partition, or hostlist of the nodes.' }),
    settings: t.expose('settings', { type: [SlurmConfigSetting], description: 'Its keys; at most 50.' }),
  }),
})

const SlurmConfigSettings = builder.objectRef<ConfigSettingsView>('SlurmConfigSettings').implement({
  description: 'The keys of slurm.conf that administrators change most, as far as the release of the cluster has them.',
  fields: (t) => ({
    settings: t.expose('settings', { type: [SlurmConfigSetting], description: 'Keys of the cluster; at most 100.' }),
    partitions: t.field({
      type: [SlurmConfigEntry],
      description: 'Partitions; at most 1000.',
      resolve: ({ partitions }) => partitions.slice(0, 1000),
    }),
    nodes: t.field({
      type: [SlurmConfigEntry],
      description: 'Lines of nodes; at most 10,000.',
      resolve: ({ nodes }) => nodes.slice(0, MAX_NODES),
    }),
  }),
})

type Drift = { host: string; diff: string | null }
const SlurmConfigDrift = builder.objectRef<Drift>('SlurmConfigDrift').implement({
  description: 'Whether a host has the files that were rolled out.',
  fields: (t) => ({
    host: t.exposeString('host', { description: 'Name of the node.' }),
    diff: t.exposeString('diff', {
      nullable: true,
      description: 'How its files differ, or why they could not be read; null when they are the same.',
    }),
  }),
})

/** Versions with a number, or the newest ones, by the ID of their cluster. */
const loadVersion = loaderWithArgs(async ({ ctx }, clusterIds, { number }: { number: number | null }) => {
  const { slurmConfigVersions: table } = schema
  const rows = await ctx.db
    .selectDistinctOn([table.clusterId])
    .from(table)
    .where(
      and(
        eq(table.tenantId, ctx.tenantId),
        inArray(table.clusterId, [...clusterIds]),
        number === null ? undefined : eq(table.number, number),
      ),
    )
    .orderBy(table.clusterId, desc(table.number))
  return new Map(rows.map((row) => [row.clusterId, row]))
})

builder.drizzleObjectFields(SlurmCluster, (t) => ({
  configVersion: t.field({
    type: SlurmConfigVersion,
    nullable: true,
    description: 'Version of the configuration with this number, or the newest one; null when there is none.',
    select: { columns: { id: true } },
    args: { number: t.arg.int({ description: 'Number. Default: the newest one.' }) },
    resolve: async (cluster, { number }, context) =>
      (await loadVersion(context, cluster.id, { number: number ?? null })) as typeof SlurmConfigVersion.$inferType | undefined,
  }),
  configVersions: t.relatedConnection(
    'configVersions',
    {
      description: 'Versions of the configuration, newest first.',
      totalCount: true,
      query: () => ({ orderBy: { number: 'desc' as const } }),
      ...PAGED,
    },
    ...versionConnection,
  ),
  configDiff: t.field({
    type: [SlurmConfigDiff],
    description: 'How two versions differ; at most 4 files.',
    select: { columns: { id: true } },
    args: {
      from: t.arg.int({ required: true, description: 'Number of the earlier version.' }),
      to: t.arg.int({ required: true, description: 'Number of the later version.' }),
    },
    resolve: async ({ id }, { from, to }, context) => {
      const [before, after] = await Promise.all([from, to].map((number) => loadVersion(context, id, { number })))
      return diffConfig(before?.files ?? {}, after?.files ?? {})
    },
  }),
  configSettings: t.field({
    type: SlurmConfigSettings,
    nullable: true,
    description: 'Keys of a version of slurm.conf with their values; null when there is no such version.',
    select: { columns: { id: true, version: true } },
    args: { number: t.arg.int({ description: 'Number. Default: the newest one.' }) },
    resolve: async (cluster, { number }, context) => {
      const version = await loadVersion(context, cluster.id, { number: number ?? null })
      return version ? readSettings(version.files, releaseOf(cluster)) : null
    },
  }),
  configNumber: t.exposeInt('configNumber', {
    nullable: true,
    description: 'Version of the configuration that the hosts should have; null before the import.',
  }),
  configCheckedAt: t.expose('configCheckedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the files of the hosts were compared with that version; null before.',
  }),
  configDrift: t.field({
    type: [SlurmConfigDrift],
    description: 'Result of that comparison, by host; at most 10,000.',
    select: { columns: { configDrift: true } },
    resolve: ({ configDrift }) =>
      Object.entries(configDrift)
        .slice(0, MAX_NODES)
        .map(([host, diff]) => ({ host, diff })),
  }),
  saveConfigBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller cannot change the configuration; null when allowed.',
    select: { columns: { id: true, name: true, reuseConfig: true } },
    resolve: (cluster, _args, { ctx }) => writeSlurmConfigBlockedReason(ctx.actor, cluster),
  }),
  importConfigBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller cannot import the configuration from the hosts; null when allowed.',
    select: { columns: { id: true, name: true, kind: true, configNumber: true } },
    resolve: (cluster, _args, { ctx }) => importSlurmConfigBlockedReason(ctx.actor, cluster),
  }),
  checkConfigBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller cannot compare the hosts with the configuration; null when allowed.',
    select: { columns: { id: true, name: true, kind: true, configNumber: true } },
    resolve: (cluster, _args, { ctx }) => checkSlurmConfigBlockedReason(ctx.actor, cluster),
  }),
}))
