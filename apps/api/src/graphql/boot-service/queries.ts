import { tenantPermissions } from '@muster/core/access'
import { readBootDurations } from '@muster/core/boot-service'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { DhcpServer, UnknownMachineState } from './enums.ts'
import {
  BootDuration,
  BootPreview,
  BootRule,
  bootRuleConnection,
  dhcpConfigOf,
  previewBoot,
  UnknownMachine,
  unknownMachineConnection,
} from './types.ts'

const { bootRules, unknownMachines } = schema
type Table = typeof unknownMachines

const UnknownMachineFilter = builder.inputType('UnknownMachineFilter', {
  description: 'Conditions of a list of unknown machines.',
  fields: (t) => ({ state: t.field({ type: UnknownMachineState, description: 'Decision.' }) }),
})

const DhcpConfigInput = builder.inputType('DhcpConfigInput', {
  description: 'The boot network that a DHCP server serves.',
  fields: (t) => ({
    server: t.field({ type: DhcpServer, required: true, description: 'DHCP server.' }),
    subnet: t.string({ required: true, description: 'IPv4 network, for example `10.0.0.0/24`.' }),
    first: t.string({ required: true, description: 'First address of the pool.' }),
    last: t.string({ required: true, description: 'Last address of the pool.' }),
    router: t.string({ description: 'Address of the router. Default: none.' }),
    nameservers: t.stringList({ description: 'Addresses of name servers; at most 8.' }),
    ipxeUrl: t.string({ description: 'HTTP folder with iPXE; at most 60 characters. Default: the host of the boot service.' }),
  }),
})

const BootDurationFilter = builder.inputType('BootDurationFilter', {
  description: 'Conditions of the boots that durations are of.',
  fields: (t) => ({
    groupId: t.id({ description: 'Only boots of the nodes of this group and its child groups.' }),
    profile: t.string({ description: 'Only boots with the boot profile of this name.' }),
  }),
})

const inState = (machine: Table, state: Table['$inferSelect']['state'] | null | undefined): SQL =>
  state ? eq(machine.state, state) : sql`true`

builder.queryFields((t) => ({
  unknownMachines: t.drizzleConnection(
    {
      type: UnknownMachine,
      description: 'Machines that asked for a boot script with a MAC that no node has, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: UnknownMachineFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(unknownMachines, and(visibleTo(ctx, unknownMachines), inState(unknownMachines, filter?.state))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.unknownMachines.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (machine) => inState(machine, filter?.state) },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...unknownMachineConnection,
  ),
  bootRules: t.drizzleConnection(
    {
      type: BootRule,
      description: 'Rules that accept unknown machines, in the order of their creation.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(bootRules, visibleTo(ctx, bootRules)),
      resolve: (query, _root, _args, { ctx }) =>
        ctx.db.query.bootRules.findMany(query({ where: { tenantId: ctx.tenantId }, orderBy: { id: 'asc' } })),
    },
    ...bootRuleConnection,
  ),
  bootRule: t.drizzleField({
    type: BootRule,
    nullable: true,
    description: 'Boot rule with this name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.bootRules.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
  bootPreview: t.field({
    type: BootPreview,
    nullable: true,
    description: 'What a node would receive if it booted now; null when there is no such node.',
    authScopes: { permission: tenantPermissions.read },
    args: { nodeId: t.arg.id({ required: true, description: 'ID of the node.' }) },
    complexity: 50,
    resolve: (_root, { nodeId }, context) => previewBoot(context, rowId('ComputeNode', nodeId)),
  }),
  bootDhcpConfig: t.string({
    description: 'Configuration of a DHCP server for network boot, with the fixed addresses of nodes in the subnet.',
    authScopes: { permission: tenantPermissions.read },
    args: { input: t.arg({ type: DhcpConfigInput, required: true, description: 'The boot network.' }) },
    complexity: 100,
    resolve: (_root, { input }, context) => dhcpConfigOf(context, input),
  }),
  bootDurations: t.field({
    type: [BootDuration],
    description: 'Durations of the stages of boots within 30 days, in the usual order of the stages; at most 20.',
    authScopes: { permission: tenantPermissions.read },
    args: { filter: t.arg({ type: BootDurationFilter, description: 'Filter.' }) },
    complexity: 100,
    resolve: (_root, { filter }, { ctx }) =>
      readBootDurations(ctx, { groupId: rowIdIfGiven('NodeGroup', filter?.groupId), profile: filter?.profile ?? null }),
  }),
}))
