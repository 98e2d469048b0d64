import { isOneOf } from '@muster/core/db'
import {
  type BmcEvent,
  type BmcInventory,
  type BmcSensor,
  bmcConflicts,
  type PowerRunPreview,
  type PowerTarget,
} from '@muster/core/power'
import { schema } from '@muster/core/registry'
import { resolveArrayConnection } from '@pothos/plugin-relay'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { NodeBmc } from '../nodes/bmc/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { BootDevice, PowerAction, PowerResult, PowerRunStatus, PowerState } from './enums.ts'

const { powerRunItems: items } = schema

export const BmcInventoryType = builder.objectRef<BmcInventory>('BmcInventory').implement({
  description: 'What a BMC reports about its machine. Null: it does not report it.',
  fields: (t) => ({
    manufacturer: t.exposeString('manufacturer', { nullable: true, description: 'Manufacturer.' }),
    model: t.exposeString('model', { nullable: true, description: 'Model.' }),
    serial: t.exposeString('serial', { nullable: true, description: 'Serial number.' }),
    uuid: t.exposeString('uuid', { nullable: true, description: 'UUID of the machine, in lower case.' }),
    biosVersion: t.exposeString('biosVersion', { nullable: true, description: 'Version of the BIOS.' }),
    bmcModel: t.exposeString('bmcModel', { nullable: true, description: 'Model of the BMC.' }),
    bmcFirmware: t.exposeString('bmcFirmware', { nullable: true, description: 'Firmware version of the BMC.' }),
    cpuModel: t.exposeString('cpuModel', { nullable: true, description: 'Model of the CPUs.' }),
    cpuCount: t.exposeInt('cpuCount', { nullable: true, description: 'Number of CPU sockets in use.' }),
    memoryBytes: t.expose('memoryBytes', { type: 'BigInt', nullable: true, description: 'Memory in bytes.' }),
    macs: t.stringList({
      description: 'MAC addresses of the machine, in lower case with colons; at most 32.',
      resolve: ({ macs }) => macs.slice(0, 32),
    }),
  }),
})

const BmcSensorType = builder.objectRef<BmcSensor>('BmcSensor').implement({
  description: 'Sensor of a machine.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    kind: t.exposeString('kind', { description: 'Kind as the BMC names it, for example `Temperature`.' }),
    value: t.exposeFloat('value', { nullable: true, description: 'Reading; null when there is none.' }),
    unit: t.exposeString('unit', { description: 'Unit as the BMC names it, for example `Cel`, `RPM` or `W`; can be empty.' }),
    health: t.exposeString('health', {
      nullable: true,
      description: '`OK`, `Warning` or `Critical`; null when the BMC does not report it.',
    }),
  }),
})

const BmcEventType = builder.objectRef<BmcEvent>('BmcEvent').implement({
  description: 'Entry of the event log of a BMC.',
  fields: (t) => ({
    entryId: t.exposeString('id', { description: 'ID in the log of the BMC.' }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time by the clock of the BMC; null without one.',
      resolve: ({ at }) => (at === null ? null : new Date(at)),
    }),
    severity: t.exposeString('severity', { nullable: true, description: 'Severity as the BMC names it.' }),
    message: t.exposeString('message', { description: 'Text.' }),
  }),
})

const MAX_SENSORS = 300
const MAX_EVENTS = 100

const BmcReading = builder.drizzleObject('bmcReadings', {
  name: 'BmcReading',
  description: 'What was last read from a BMC.',
  fields: (t) => ({
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last reading that succeeded; null before the first one.',
    }),
    reportedState: t.expose('reportedState', {
      type: PowerState,
      nullable: true,
      description: 'Power state at `readAt`, which may be old; null before the first reading.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the last reading failed, and the next step; null after one that succeeded.',
    }),
    failedAt: t.expose('failedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last reading failed; null otherwise.',
    }),
    offeredFingerprint: t.exposeString('offeredFingerprint', {
      nullable: true,
      description: 'SHA-256 of the certificate that was rejected at the last reading; null when none was.',
    }),
    requestedAt: t.expose('requestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a person requested a reading that has not ended; null otherwise.',
    }),
    detailsReadAt: t.expose('detailsReadAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When inventory, sensors and events were read; null before.',
    }),
    inventory: t.expose('inventory', {
      type: BmcInventoryType,
      nullable: true,
      description: 'Inventory; null before it was read.',
    }),
    sensors: t.field({
      type: [BmcSensorType],
      description: `Sensors; at most ${MAX_SENSORS}.`,
      select: { columns: { sensors: true } },
      resolve: ({ sensors }) => (sensors ?? []).slice(0, MAX_SENSORS),
    }),
    events: t.field({
      type: [BmcEventType],
      description: `Event log, newest first; at most ${MAX_EVENTS}.`,
      select: { columns: { events: true } },
      resolve: ({ events }) => (events ?? []).slice(0, MAX_EVENTS),
    }),
  }),
})

const conflictsOf = loader<string[]>(({ ctx }, nodeIds) => bmcConflicts(ctx, nodeIds))

builder.drizzleObjectFields(NodeBmc, (t) => ({
  conflicts: t.stringList({
    description:
      'Signs that the BMC belongs to another machine: its serial number, UUID or MACs differ from the last discovery, or another node has them. At most 100; empty without a conflict. Muster changes nothing.',
    select: { columns: { nodeId: true } },
    resolve: async ({ nodeId }, _args, context) => ((await conflictsOf(context, nodeId)) ?? []).slice(0, 100),
  }),
  powerState: t.field({
    type: PowerState,
    description: 'Power state of the node; UNKNOWN when the BMC was never read or did not answer the last time.',
    select: { with: { reading: { columns: { powerState: true } } } },
    resolve: ({ reading }) => reading?.powerState ?? 'UNKNOWN',
  }),
  reading: t.relation('reading', {
    type: BmcReading,
    nullable: true,
    description: 'What was last read; null before the first reading.',
  }),
}))

type ResultCount = { result: NonNullable<typeof items.$inferSelect.result>; count: number }
const countsOf = loader<ResultCount[]>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: items.runId, result: items.result, count: sql<number>`count(*)::int` })
    .from(items)
    .where(isOneOf(items.runId, [...ids]))
    .groupBy(items.runId, items.result)
  return Map.groupBy(
    rows.filter((row): row is ResultCount & { id: string } => row.result !== null),
    ({ id }) => id,
  )
})

const PowerResultCount = builder.objectRef<ResultCount>('PowerResultCount').implement({
  description: 'Number of nodes of a power run with the same result.',
  fields: (t) => ({
    result: t.expose('result', { type: PowerResult, description: 'Result.' }),
    count: t.exposeInt('count', { description: 'Number of nodes.' }),
  }),
})

const PowerRunItem = builder.drizzleObject('powerRunItems', {
  name: 'PowerRunItem',
  description: 'One node of a power run.',
  fields: (t) => ({
    nodeName: t.exposeString('nodeName', { description: 'Name of the node at the time of the request.' }),
    node: t.relation('node', { nullable: true, description: 'The node; null after it was purged.' }),
    result: t.expose('result', { type: PowerResult, nullable: true, description: 'Result; null before.' }),
    before: t.expose('before', {
      type: PowerState,
      nullable: true,
      description: 'State before the command; null when it was not read.',
    }),
    after: t.expose('after', { type: PowerState, nullable: true, description: 'State afterwards; null when it was not read.' }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the command was sent; null when none was.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the result; null before.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'Words of the BMC, or why the effect is not known; null otherwise.',
    }),
  }),
})
const itemConnection = connectionTypes(PowerRunItem, 'PowerRunItem', 'nodes of a power run')

export const PowerRun = builder.drizzleNode('powerRuns', {
  name: 'PowerRun',
  description: 'A power action on nodes through their BMCs. A worker sends the commands, and reads the power states back.',
  select: { columns: { id: true } },
  id: { column: (run) => run.id, description: 'ID of the power run.' },
  fields: (t) => ({
    action: t.expose('action', { type: PowerAction, description: 'Action.' }),
    bootDevice: t.expose('bootDevice', {
      type: BootDevice,
      nullable: true,
      description: 'BOOT_ONCE: device of the next boot; null otherwise.',
    }),
    reason: t.exposeString('reason', { description: 'Reason that the caller gave.' }),
    isForced: t.exposeBoolean('isForced', { description: 'Whether nodes with running SlurmJobs or locks are included.' }),
    parallelism: t.exposeInt('parallelism', { description: 'Nodes in progress at the same time.' }),
    delaySeconds: t.exposeInt('delaySeconds', { description: 'Time between the commands of two nodes.' }),
    status: t.expose('status', { type: PowerRunStatus, description: 'Status.' }),
    targetCount: t.exposeInt('targetCount', { description: 'Number of nodes.' }),
    results: t.field({
      type: [PowerResultCount],
      description: 'Number of nodes by result, for those that have one. At most 7.',
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => (await countsOf(context, id)) ?? [],
    }),
    items: t.relatedConnection(
      'items',
      {
        description: 'Its nodes.',
        totalCount: true,
        args: { result: t.arg({ type: [PowerResult], description: 'One of these results; at most 500.' }) },
        query: ({ result }) => ({ ...(result ? { where: { result: { in: result } } } : {}), orderBy: { id: 'asc' as const } }),
        ...PAGED,
      },
      ...itemConnection,
    ),
    canceledBy: t.exposeString('canceledByName', {
      nullable: true,
      description: 'Name of who canceled it; null when nobody did.',
    }),
    createdBy: t.field(actorField('created', 'Actor that started it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began; null before.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end; null before.' }),
  }),
})
builder.drizzleObjectField(PowerRunItem, 'run', (t) => t.relation('run', { description: 'The power run.' }))
export const powerRunConnection = connectionTypes(PowerRun, 'PowerRun', 'power runs')

const PowerTargetType = builder.objectRef<PowerTarget>('PowerTarget').implement({
  description: 'A node of a previewed power run.',
  fields: (t) => ({
    node: t.field({
      type: ComputeNode,
      description: 'The node.',
      resolve: ({ node }) => node as typeof ComputeNode.$inferType,
    }),
    name: t.string({ description: 'Name of the node.', resolve: ({ node }) => node.name }),
    powerState: t.field({
      type: PowerState,
      description: 'Power state at the last reading.',
      resolve: ({ power }) => power.state,
    }),
    readAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last reading; null before the first one.',
      resolve: ({ power }) => power.readAt,
    }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the node blocks the action; null when it does not.',
    }),
  }),
})
const targetConnection = connectionTypes(PowerTargetType, 'PowerTarget', 'nodes of a previewed power run')

export const PowerRunPreviewType = builder.objectRef<PowerRunPreview>('PowerRunPreview').implement({
  description: 'Preview of a power run. Nothing is started or stored, and no BMC is asked.',
  fields: (t) => ({
    targetCount: t.int({ description: 'Number of nodes.', resolve: ({ targets }) => targets.length }),
    blockedCount: t.int({
      description: 'Number of nodes that block the action. It starts only when there are none.',
      resolve: ({ targets }) => targets.filter(({ blockedReason }) => blockedReason !== null).length,
    }),
    parallelism: t.exposeInt('parallelism', { description: 'Nodes in progress at the same time.' }),
    delaySeconds: t.exposeInt('delaySeconds', { description: 'Time between the commands of two nodes.' }),
    targets: t.connection(
      {
        type: PowerTargetType,
        description: 'Its nodes, blocked ones first.',
        ...PAGED,
        resolve: ({ targets }, args) => ({
          ...resolveArrayConnection(
            { args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize },
            targets.toSorted((a, b) => Number(b.blockedReason !== null) - Number(a.blockedReason !== null)),
          ),
          totalCount: targets.length,
        }),
      },
      ...targetConnection,
    ),
  }),
})

builder.drizzleObjectField(ComputeNode, 'powerRunItems', (t) =>
  t.relation('powerRunItems', {
    type: PowerRunItem,
    description: 'The last power actions on the node, newest first; at most 20.',
    query: { orderBy: { id: 'desc' }, limit: 20 },
  }),
)
