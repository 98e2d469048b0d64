import { isOneOf, visibleTo } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { type GroupTree, isInGroup, matchesNodeQuery } from '@muster/core/groups'
import { nodeHealthStatus, normalizeXname, parseHardwareAddress } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { expandHostlist, limitCondition, type NodeColumns, parseVendors, VENDORS } from '@muster/core/selection'
import { and, arrayContains, inArray, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { AgentState } from '../agents/enums.ts'
import { groupTree } from '../groups/tree.ts'
import { contains } from '../shared/contains.ts'
import { DeviceType } from './accelerators/enums.ts'
import { BmcProtocol } from './bmc/types.ts'
import { NodeStatus, NodeType } from './enums.ts'
import { NodeHealthStatus } from './health.ts'

const { accelerators, agentKeys, agents, computeNodes, nodeBmcs, nodeInterfaces } = schema

const LabelFilter = builder.inputType('LabelFilter', {
  description: 'Filter of nodes by a label.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Label key.' }),
    value: t.string({ description: 'Label value. Default: any value.' }),
  }),
})

const LIMIT_GRAMMAR =
  '`gpu*`, `gpu[001-064]`, `@group`, `tag:x`, `status:READY`, `vendor:nvidia`, `xname:x1000c0*`, `nid:1-64`, `bmc:10.0.1.*`, `mac:02:00:5e:*`, `{query}`, `all`. A comma joins terms; `!` excludes.'

export const NodeFilter = builder.inputType('NodeFilter', {
  description: 'Filter of nodes. All given conditions must match.',
  fields: (t) => ({
    text: t.string({ description: 'Name, display name, host, a tag or the notes contain this text, case-insensitive.' }),
    status: t.field({ type: [NodeStatus], description: 'One of these statuses; at most 500.' }),
    health: t.field({ type: [NodeHealthStatus], description: 'One of these overall health statuses; at most 500.' }),
    nodeType: t.field({ type: [NodeType], description: 'One of these roles; at most 500.' }),
    tag: t.stringList({ description: 'All of these tags; at most 500.' }),
    label: t.field({ type: [LabelFilter], description: 'All of these labels; at most 500.' }),
    group: t.stringList({
      description: 'Member of a group with one of these names, at most 500; directly or through a child group.',
    }),
    query: t.string({
      description:
        'Query language, for example `accelerator.vendor = amd and (tag = prod or label.rack in (a1, a2)) and not memory < 512GiB`.',
    }),
    acceleratorVendor: t.stringList({
      description: `An accelerator of one of these vendors, case-insensitive: ${VENDORS.join(', ')}; at most 500.`,
    }),
    acceleratorModel: t.string({ description: 'An accelerator with a model that contains this text, case-insensitive.' }),
    deviceType: t.field({ type: [DeviceType], description: 'An accelerator of one of these types; at most 500.' }),
    minAccelerators: t.int({
      description: 'At least this many accelerators that match `acceleratorVendor`, `acceleratorModel` and `deviceType`.',
    }),
    arch: t.stringList({ description: 'One of these machine architectures; at most 500.' }),
    os: t.stringList({ description: 'An operating system with one of these IDs, for example `debian`; at most 500.' }),
    hasHostKeyAlarm: t.boolean({ description: 'Whether the node offers a host key that is not approved.' }),
    agentState: t.field({ type: [AgentState], description: 'An agent in one of these states; at most 500.' }),
    cluster: t.stringList({ description: 'An agent that reports one of these clusters; at most 500.' }),
    hasAgentAlarm: t.boolean({
      description: 'Whether the agent offers a changed key or changed hardware that is not approved.',
    }),
    region: t.stringList({ description: 'One of these regions; at most 500.' }),
    datacenter: t.stringList({ description: 'One of these data centers; at most 500.' }),
    rack: t.stringList({ description: 'One of these racks; at most 500.' }),
    xname: t.string({ description: 'One of the xnames of this hostlist, for example `x1000c0s[0-7]b0n0`.' }),
    nid: t.intList({ description: 'One of these NIDs; at most 500.' }),
    mac: t.stringList({ description: 'An interface with one of these MAC addresses, in any notation; at most 500.' }),
    bmc: t.stringList({ description: 'A BMC at one of these addresses; at most 500.' }),
    bmcProtocol: t.field({ type: [BmcProtocol], description: 'A BMC with one of these protocols; at most 500.' }),
    hostlist: t.string({ description: 'One of the names of this hostlist, for example `gpu[001-064],cpu1`.' }),
    limit: t.string({ description: `Limit expression as for runs: ${LIMIT_GRAMMAR}` }),
  }),
})

export type NodeFilterInput = typeof NodeFilter.$inferInput

/** Whether the filter needs the group tree. */
export const asksForGroups = (filter: NodeFilterInput | null | undefined): boolean =>
  Boolean(filter?.group) || typeof filter?.query === 'string' || typeof filter?.limit === 'string'

/**
 * The filter as a condition on `n`, the table of nodes or an alias of it.
 * @param groups null for a filter that does not need them
 * @throws InvalidInput for an invalid hostlist, query or vendor
 */
export function nodeConditions(
  filter: NodeFilterInput | null | undefined,
  n: NodeColumns,
  groups: GroupTree | null,
): SQL | undefined {
  if (!filter) return undefined
  const {
    text,
    status,
    health,
    nodeType,
    tag,
    label,
    group,
    query,
    arch,
    os,
    hasHostKeyAlarm,
    hasAgentAlarm,
    region,
    datacenter,
    rack,
    xname,
    nid,
    mac,
    bmc,
    bmcProtocol,
    hostlist,
    limit,
  } = filter
  const alarm = and(isNotNull(n.offeredHostKey), or(isNull(n.hostKey), ne(n.hostKey, n.offeredHostKey)))!
  return and(
    text
      ? or(
          ...[n.name, n.displayName, n.host, n.notes, sql`array_to_string(${n.tags}, ' ')`].map((where) => contains(where, text)),
        )
      : undefined,
    status ? inArray(n.status, status) : undefined,
    health ? inArray(nodeHealthStatus(n), health) : undefined,
    nodeType ? inArray(n.nodeType, nodeType) : undefined,
    tag?.length ? arrayContains(n.tags, tag) : undefined,
    ...(label ?? []).map(({ key, value }) =>
      typeof value === 'string' ? sql`${n.labels} ->> ${key}::text = ${value}` : sql`jsonb_exists(${n.labels}, ${key})`,
    ),
    groups && group ? isInGroup(groups, group, n) : undefined,
    groups && typeof query === 'string' ? matchesNodeQuery(groups, query, n, 'filter.query') : undefined,
    withAccelerators(filter, n),
    withAgent(filter, n),
    typeof hasAgentAlarm === 'boolean' ? sql`${agentAlarm(n)} = ${hasAgentAlarm}` : undefined,
    region ? isOneOf(n.region, region, 'text') : undefined,
    datacenter ? isOneOf(n.datacenter, datacenter, 'text') : undefined,
    rack ? isOneOf(n.rack, rack, 'text') : undefined,
    xname ? isOneOf(n.xname, names(xname, 'filter.xname').map(normalizeXname), 'text') : undefined,
    nid ? inArray(n.nid, nid) : undefined,
    mac
      ? sql`exists (select from ${nodeInterfaces} i where i.node_id = ${n.id} and i.mac = any(${sql.param(mac.map((each) => parseHardwareAddress(each) ?? each))}::text[]))`
      : undefined,
    bmc || bmcProtocol
      ? sql`exists (select from ${nodeBmcs} b where ${and(
          sql`b.node_id = ${n.id}`,
          bmc ? sql`b.address = any(${sql.param(bmc.map((each) => each.toLowerCase()))}::text[])` : undefined,
          bmcProtocol ? sql`b.protocol = any(${sql.param(bmcProtocol)}::text[])` : undefined,
        )})`
      : undefined,
    arch ? isOneOf(n.arch, arch, 'text') : undefined,
    os ? isOneOf(n.osId, os, 'text') : undefined,
    typeof hasHostKeyAlarm === 'boolean' ? (hasHostKeyAlarm ? alarm : sql`(${alarm}) is not true`) : undefined,
    hostlist ? isOneOf(n.name, names(hostlist), 'text') : undefined,
    groups && typeof limit === 'string' ? limitCondition(limit, groups, n) : undefined,
  )
}

/** Description of a limit expression in a filter of objects with nodes. */
export const limitDescription = (condition: string) => `${condition} one of the nodes of this limit expression: ${LIMIT_GRAMMAR}`

/**
 * The query for the IDs of the nodes that a limit expression matches; undefined without one.
 * @throws InvalidInput for an invalid limit expression
 */
export async function limitedNodeIds(limit: string | null | undefined, context: ApiContext): Promise<SQL | undefined> {
  if (typeof limit !== 'string') return undefined
  const condition = limitCondition(limit, await groupTree(context), computeNodes)
  return sql`select ${computeNodes.id} from ${computeNodes} where ${and(visibleTo(context.ctx, computeNodes), condition)}`
}

function withAccelerators(filter: NodeFilterInput, n: NodeColumns): SQL | undefined {
  const { acceleratorVendor, acceleratorModel, deviceType, minAccelerators } = filter
  const which = and(
    acceleratorVendor
      ? sql`a.vendor = any(${sql.param(parseVendors(acceleratorVendor, 'filter.acceleratorVendor'))}::text[])`
      : undefined,
    acceleratorModel ? contains(sql`a.model`, acceleratorModel) : undefined,
    deviceType ? sql`a.device_type = any(${sql.param(deviceType)}::text[])` : undefined,
  )
  if (!which && (minAccelerators ?? 0) <= 0) return undefined
  const matching = sql`select from ${accelerators} a where a.node_id = ${n.id}${which ? sql` and ${which}` : sql``}`
  return (minAccelerators ?? 1) <= 1
    ? sql`exists (${matching})`
    : sql`(select count(*) from (${matching}) fitting) >= ${minAccelerators}`
}

function withAgent({ agentState, cluster }: NodeFilterInput, n: NodeColumns): SQL | undefined {
  if (!agentState && !cluster) return undefined
  return sql`exists (select from ${agents} ag where ${and(
    sql`ag.node_id = ${n.id}`,
    agentState ? sql`ag.state = any(${sql.param(agentState)}::text[])` : undefined,
    cluster ? sql`ag.cluster = any(${sql.param(cluster)}::text[])` : undefined,
  )})`
}

const agentAlarm = (n: NodeColumns) => sql`(
  exists (select from ${agents} ag where ag.node_id = ${n.id} and ag.offered_fingerprint is not null)
  or exists (select from ${agentKeys} k where k.node_id = ${n.id} and k.status = 'WAITING'))`

function names(hostlist: string, path = 'filter.hostlist'): string[] {
  try {
    return expandHostlist(hostlist)
  } catch (error) {
    if (error instanceof InvalidInput) throw new InvalidInput(error.issues.map((issue) => ({ ...issue, path })))
    throw error
  }
}
