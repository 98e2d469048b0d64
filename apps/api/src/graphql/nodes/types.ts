import { isOneOf } from '@muster/core/db'
import { purgeBlockedReason, writeBlockedReason } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { and, eq, isNull } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { fingerprintOf, HostKeyAlarm, hostKeyAlarmOf } from '../connections/host-keys.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { AcceleratorSummary, acceleratorSummary } from './accelerators/summary.ts'
import { ConnectionType, NodeStatus, NodeType } from './enums.ts'

const { jobRunHosts, jobRuns } = schema

/** An unfinished run that targets each node, as messages call it. */
const unfinishedRuns = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ nodeId: jobRunHosts.nodeId, id: jobRuns.id, name: jobRuns.templateName })
    .from(jobRunHosts)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunHosts.jobRunId))
    .where(and(isOneOf(jobRunHosts.nodeId, [...ids]), isNull(jobRuns.finishedAt)))
  return new Map(rows.map((run) => [run.nodeId!, `${run.name} ${run.id}`]))
})

export const ComputeNode = builder.drizzleNode('computeNodes', {
  name: 'ComputeNode',
  description: 'A machine that is managed.',
  select: { columns: { id: true } },
  id: { column: (n) => n.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name in inventories and logs, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'A name for people.' }),
    host: t.exposeString('host', { description: 'Host name or IP address at which it is reached.' }),
    port: t.exposeInt('port', { description: 'Port of its SSH server.' }),
    connectionType: t.expose('connectionType', { type: ConnectionType, description: 'How it is reached.' }),
    sshUser: t.exposeString('sshUser', { nullable: true, description: "User to log in as; null: the credential's user." }),
    status: t.expose('status', { type: NodeStatus, description: 'Whether it can be worked with.' }),
    statusReason: t.string({
      nullable: true,
      description: 'Why it is unreachable; null otherwise.',
      select: { columns: { unreachableReason: true, status: true } },
      resolve: (n) => (n.status === 'UNREACHABLE' ? n.unreachableReason : null),
    }),
    nodeType: t.expose('nodeType', { type: NodeType, description: 'What it is for.' }),
    tags: t.exposeStringList('tags', { description: 'Words to find it by.' }),
    labels: t.expose('labels', { type: 'JSON', description: 'Keys with text values, as an object.' }),
    notes: t.exposeString('notes', { description: 'Free text; empty when there is none.' }),
    credential: t.relation('credential', { nullable: true, description: 'The login on it.' }),
    becomeCredential: t.relation('becomeCredential', {
      nullable: true,
      description: 'Password to become root with; null: none is needed.',
    }),
    bastion: t.relation('bastion', { nullable: true, description: 'The host through which it is reached; null: directly.' }),
    hostKeyFingerprint: t.string({
      nullable: true,
      description: 'Fingerprint of the approved host key, `SHA256:…`. Without one nothing but a connection test connects.',
      select: { columns: { hostKey: true } },
      resolve: (n) => fingerprintOf(n.hostKey),
    }),
    hostKeyApprovedAt: t.expose('hostKeyApprovedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When that key was approved.',
    }),
    hostKeyAlarm: t.field({
      type: HostKeyAlarm,
      nullable: true,
      description: 'Set while it offers a host key that is not approved: a first one, or another than the approved one.',
      select: { columns: { hostKey: true, offeredHostKey: true, offeredHostKeyAt: true } },
      resolve: hostKeyAlarmOf,
    }),
    arch: t.exposeString('arch', { nullable: true, description: 'Machine architecture as uname says it: x86_64, aarch64.' }),
    osName: t.exposeString('osName', {
      nullable: true,
      description: 'Name of the operating system with its version, for people.',
    }),
    osId: t.exposeString('osId', { nullable: true, description: 'Its id in os-release: debian, ubuntu, rocky.' }),
    osVersion: t.exposeString('osVersion', { nullable: true, description: 'Its version in os-release.' }),
    kernel: t.exposeString('kernel', { nullable: true, description: 'Release of the running kernel.' }),
    cpuModel: t.exposeString('cpuModel', { nullable: true, description: 'Name of the processor.' }),
    cpuSockets: t.exposeInt('cpuSockets', { nullable: true, description: 'Number of processors.' }),
    cpuCores: t.exposeInt('cpuCores', { nullable: true, description: 'Number of cores of all processors.' }),
    cpuThreads: t.exposeInt('cpuThreads', { nullable: true, description: 'Number of hardware threads of all processors.' }),
    memoryBytes: t.expose('memoryBytes', { type: 'BigInt', nullable: true, description: 'Main memory in bytes.' }),
    bootId: t.exposeString('bootId', {
      nullable: true,
      description: 'Id of the present boot; another one means it was restarted.',
    }),
    bootedAt: t.expose('bootedAt', { type: 'DateTime', nullable: true, description: 'When it was last started.' }),
    facts: t.expose('facts', {
      type: 'JSON',
      nullable: true,
      description: 'Everything the last discovery found out about the machine apart from accelerators; null until then.',
    }),
    discoveredAt: t.expose('discoveredAt', { type: 'DateTime', nullable: true, description: 'When it was last discovered.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', nullable: true, description: 'When it last answered.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    accelerators: t.relation('accelerators', {
      description: 'Its GPUs and NPUs, in the order of their index.',
      query: { orderBy: { index: 'asc', id: 'asc' } },
    }),
    acceleratorSummary: t.field({
      type: [AcceleratorSummary],
      description: 'Its accelerators grouped by kind and model.',
      select: { columns: {}, extras: { acceleratorSummary } },
      resolve: (n) => n.acceleratorSummary,
    }),
    writeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change it; null: allowed.',
      select: { columns: { name: true, decommissionedAt: true } },
      resolve: (n, _args, { ctx }) => writeBlockedReason(ctx.actor, n),
    }),
    purgeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not remove it for good; null: allowed.',
      select: { columns: { id: true, name: true, status: true, decommissionedAt: true } },
      // Only a decommissioned node has a reason left to look up: the unfinished run.
      resolve: async (n, _args, context) =>
        purgeBlockedReason(context.ctx.actor, n) ??
        purgeBlockedReason(context.ctx.actor, n, (await unfinishedRuns(context, n.id)) ?? null),
    }),
  }),
})

export const nodeConnection = connectionTypes(ComputeNode, 'ComputeNode', 'nodes')
