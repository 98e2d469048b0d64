import { isOneOf } from '@muster/core/db'
import { bmcXname, nodeHealth, parseXname, purgeBlockedReason, updateBlockedReason, xnameRejections } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { and, eq, isNull } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { countBytes } from '../../limits.ts'
import { fingerprintOf, HostKeyAlarm, hostKeyAlarmOf } from '../connections/host-keys.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { AcceleratorSummary, acceleratorSummary } from './accelerators/summary.ts'
import { NodeBmc } from './bmc/types.ts'
import { ConnectionType, NodeStatus, NodeType } from './enums.ts'
import { CPU_COLUMNS, Cpu, OperatingSystem, OS_COLUMNS } from './hardware.ts'
import { NodeHealth } from './health.ts'
import { bootMac } from './interfaces.ts'
import { Label, labelList } from './labels.ts'

const { jobRunHosts, jobRuns } = schema

/** An unfinished run of each node, as messages name it. */
const unfinishedRuns = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ nodeId: jobRunHosts.nodeId, id: jobRuns.id, name: jobRuns.templateName })
    .from(jobRunHosts)
    .innerJoin(jobRuns, eq(jobRuns.id, jobRunHosts.jobRunId))
    .where(and(isOneOf(jobRunHosts.nodeId, [...ids]), isNull(jobRuns.finishedAt)))
  return new Map(rows.map((run) => [run.nodeId!, `${run.name} ${run.id}`]))
})

/** `ComputeNode.accelerators` returns at most this many. */
const MAX_ACCELERATORS = 256

export const ComputeNode = builder.drizzleNode('computeNodes', {
  name: 'ComputeNode',
  description: 'A managed machine.',
  select: { columns: { id: true } },
  id: { column: (n) => n.id, description: 'Node ID.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Inventory name, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'Display name.' }),
    host: t.exposeString('host', { description: 'Host name or IP address for connections.' }),
    port: t.exposeInt('port', { description: 'SSH port.' }),
    connectionType: t.expose('connectionType', { type: ConnectionType, description: 'Transport.' }),
    sshUser: t.exposeString('sshUser', {
      nullable: true,
      description: 'Login name; null when the user name of the credential is used.',
    }),
    status: t.expose('status', { type: NodeStatus, description: 'Availability over SSH.' }),
    statusReason: t.string({
      nullable: true,
      description: 'Reason for the status UNREACHABLE or MAINTENANCE; null for any other status, or without a reason.',
      select: { columns: { unreachableReason: true, maintenanceReason: true, status: true } },
      resolve: ({ status, ...n }) =>
        status === 'UNREACHABLE' ? n.unreachableReason : status === 'MAINTENANCE' ? n.maintenanceReason : null,
    }),
    maintenanceStartedAt: t.expose('maintenanceAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the node is in maintenance; null when it is not.',
    }),
    maintenanceEndsAt: t.expose('maintenanceUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When the maintenance ends by itself; null when a user ends it, or without maintenance.',
    }),
    maintenanceStartedByName: t.exposeString('maintenanceByName', {
      nullable: true,
      description: 'Name of the user who set the maintenance or started the run that set it; null without maintenance.',
    }),
    health: t.field({
      type: NodeHealth,
      description: 'Overall health: the worst of SSH, agent, accelerators and Slurm.',
      select: { columns: {}, extras: { health: nodeHealth } },
      resolve: (n) => n.health,
    }),
    nodeType: t.expose('nodeType', { type: NodeType, description: 'Role in the cluster.' }),
    xname: t.exposeString('xname', {
      nullable: true,
      description: 'Location name, for example `x1000c0s3b0n1`, in lower case without leading zeros; null when none is set.',
    }),
    xnameRejections: t.stringList({
      description:
        'Tools that reject the xname, each with its reason; at most 10. Empty when all accept it, or without an xname.',
      select: { columns: { xname: true } },
      resolve: ({ xname }) => {
        const parsed = xname === null ? null : parseXname(xname)
        return parsed ? xnameRejections(parsed) : []
      },
    }),
    nid: t.exposeInt('nid', { nullable: true, description: 'Numeric node ID of the boot service; null when none is set.' }),
    managementIp: t.exposeString('managementIp', {
      nullable: true,
      description: 'Address in the management network; null when none is set.',
    }),
    interfaces: t.relation('interfaces', {
      description: 'Network interfaces as entered by users, in their order; at most 64.',
      query: { orderBy: { position: 'asc' }, limit: 64 },
    }),
    bootMac: t.string({
      nullable: true,
      description: 'MAC address of the boot interface; null without one.',
      select: { columns: {}, extras: { bootMac } },
      resolve: (n) => n.bootMac,
    }),
    bmc: t.relation('bmc', { type: NodeBmc, nullable: true, description: 'BMC of the node; null when none is set.' }),
    bmcXname: t.string({
      nullable: true,
      description: 'Location name of the BMC, derived from `xname`, for example `x1000c0s3b0`; null without an xname.',
      select: { columns: { xname: true } },
      resolve: ({ xname }) => {
        const parsed = xname === null ? null : parseXname(xname)
        return parsed ? bmcXname(parsed) : null
      },
    }),
    rack: t.exposeString('rack', { nullable: true, description: 'Rack.' }),
    rackPosition: t.exposeString('rackPosition', { nullable: true, description: 'Position in the rack, for example `U07`.' }),
    tags: t.exposeStringList('tags', { description: 'Tags; at most 100.' }),
    labels: t.field({
      type: [Label],
      description: 'Labels, sorted by key; at most 100.',
      select: { columns: { labels: true } },
      resolve: (n) => labelList(n.labels),
    }),
    notes: t.exposeString('notes', { description: 'Free text; can be empty.' }),
    credential: t.relation('credential', { nullable: true, description: 'Login credential.' }),
    becomeCredential: t.relation('becomeCredential', {
      nullable: true,
      description: 'Credential for privilege escalation; null when none is needed.',
    }),
    bastion: t.relation('bastion', {
      nullable: true,
      description: 'Credential of the bastion in front of the node; null for a direct connection.',
    }),
    hostKeyFingerprint: t.string({
      nullable: true,
      description: 'Fingerprint of the approved host key, `SHA256:…`. Without an approved key only connection tests connect.',
      select: { columns: { hostKey: true } },
      resolve: (n) => fingerprintOf(n.hostKey),
    }),
    hostKeyApprovedAt: t.expose('hostKeyApprovedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the approval of the host key.',
    }),
    hostKeyAlarm: t.field({
      type: HostKeyAlarm,
      nullable: true,
      description: 'Offered host key that is not approved; null when there is none.',
      select: { columns: { hostKey: true, offeredHostKey: true, offeredHostKeyAt: true } },
      resolve: hostKeyAlarmOf,
    }),
    arch: t.exposeString('arch', { nullable: true, description: 'Machine architecture as in `uname -m`: x86_64, aarch64.' }),
    os: t.field({
      type: OperatingSystem,
      nullable: true,
      description: 'Operating system; null before the first discovery.',
      select: { columns: OS_COLUMNS },
      resolve: (n) => (n.osId === null && n.osName === null ? null : n),
    }),
    kernel: t.exposeString('kernel', { nullable: true, description: 'Release of the running kernel.' }),
    cpu: t.field({
      type: Cpu,
      nullable: true,
      description: 'Processors; null before the first discovery.',
      select: { columns: CPU_COLUMNS },
      resolve: (n) => (n.cpuModel === null && n.cpuThreads === null ? null : n),
    }),
    memoryBytes: t.expose('memoryBytes', {
      type: 'BigInt',
      nullable: true,
      description: 'Main memory in bytes; null before the first discovery.',
    }),
    bootId: t.exposeString('bootId', { nullable: true, description: 'ID of the current boot. It changes at each reboot.' }),
    bootedAt: t.expose('bootedAt', { type: 'DateTime', nullable: true, description: 'Time of the last boot.' }),
    facts: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Host facts of the last successful discovery; null before the first one.',
      select: { columns: { facts: true } },
      resolve: ({ facts }, _args, context) => {
        if (facts !== null) countBytes(context, Buffer.byteLength(JSON.stringify(facts)))
        return facts
      },
    }),
    discoveredAt: t.expose('discoveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last successful discovery.',
    }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', nullable: true, description: 'Time of the last response.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
    accelerators: t.relation('accelerators', {
      description: `Accelerators, sorted by index. At most ${MAX_ACCELERATORS}.`,
      query: { orderBy: { index: 'asc', id: 'asc' }, limit: MAX_ACCELERATORS },
    }),
    acceleratorSummary: t.field({
      type: [AcceleratorSummary],
      description: 'Accelerators grouped by type and model. At most one group per accelerator.',
      select: { columns: {}, extras: { acceleratorSummary } },
      resolve: (n) => n.acceleratorSummary,
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot change the node; null when allowed.',
      select: { columns: { name: true, decommissionedAt: true } },
      resolve: (n, _args, { ctx }) => updateBlockedReason(ctx.actor, n),
    }),
    purgeBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot purge the node; null when allowed.',
      select: { columns: { id: true, name: true, status: true, decommissionedAt: true } },
      // Unfinished runs are looked up only when nothing else blocks.
      resolve: async (n, _args, context) =>
        purgeBlockedReason(context.ctx.actor, n) ??
        purgeBlockedReason(context.ctx.actor, n, (await unfinishedRuns(context, n.id)) ?? null),
    }),
  }),
})

export const nodeConnection = connectionTypes(ComputeNode, 'ComputeNode', 'nodes')
