import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { type BMC_DISCOVERY_STATUSES, bmcDiscoveryAudit, cancelBmcDiscovery, discoverBmcs } from '@muster/core/power'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { changes } from '../shared/changes.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { PowerState } from './enums.ts'
import { BmcInventoryType } from './types.ts'

const { bmcDiscoveries } = schema

const BmcDiscoveryStatus = builder.enumType('BmcDiscoveryStatus', {
  description: 'Status of a search for BMCs.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'A worker asks the addresses.',
    CANCELING: 'Canceled; addresses that were asked are still recorded.',
    SUCCEEDED: 'All addresses were asked.',
    FAILED: 'Ended early; see the error.',
    CANCELED: 'Canceled.',
  } satisfies Record<(typeof BMC_DISCOVERY_STATUSES)[number], string>),
})

const FoundBmc = builder.drizzleObject('foundBmcs', {
  name: 'FoundBmc',
  description: 'A system of a BMC that a search found, or a BMC of which no system was read.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Address.' }),
    port: t.exposeInt('port', { description: 'Port.' }),
    systemPath: t.string({
      nullable: true,
      description: 'Path of the system, when the BMC has several; null otherwise.',
      select: { columns: { systemPath: true } },
      resolve: ({ systemPath }) => systemPath || null,
    }),
    fingerprint: t.exposeString('fingerprint', {
      nullable: true,
      description: 'SHA-256 of its certificate when no trusted authority issued it; null otherwise.',
    }),
    product: t.exposeString('product', { nullable: true, description: 'Vendor and product; null when it names none.' }),
    powerState: t.expose('reportedState', {
      type: PowerState,
      nullable: true,
      description: 'Power state; null when it was not read.',
    }),
    inventory: t.expose('inventory', {
      type: BmcInventoryType,
      nullable: true,
      description: 'Inventory; null when it was not read.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'Why its systems were not read; null otherwise.' }),
    node: t.relation('node', { nullable: true, description: 'The node that matches; null when none, or several, do.' }),
    matchedBy: t.exposeString('matchedBy', {
      nullable: true,
      description: 'What the node has in common with it: `address`, `MAC`, `UUID` or `serial`; null without a node.',
    }),
    conflict: t.exposeString('conflict', {
      nullable: true,
      description: 'Why a person must decide: several nodes match, or the node has another BMC; null otherwise.',
    }),
  }),
})
const foundConnection = connectionTypes(FoundBmc, 'FoundBmc', 'found BMCs')

export const BmcDiscovery = builder.drizzleNode('bmcDiscoveries', {
  name: 'BmcDiscovery',
  description: 'A search of addresses for Redfish services.',
  select: { columns: { id: true } },
  id: { column: (discovery) => discovery.id, description: 'ID of the search.' },
  fields: (t) => ({
    addresses: t.exposeStringList('addresses', {
      description: 'Addresses, ranges and networks as the caller gave them; at most 500.',
    }),
    port: t.exposeInt('port', { description: 'Port.' }),
    credential: t.relation('credential', {
      nullable: true,
      description: 'Credential with which systems are read; null without one, or after it was deleted.',
    }),
    caCertificate: t.exposeString('caCertificate', {
      nullable: true,
      description: 'PEM certificates of the only trusted authorities; null when those of the installation are trusted.',
    }),
    status: t.expose('status', { type: BmcDiscoveryStatus, description: 'Status.' }),
    addressCount: t.exposeInt('addressCount', { description: 'Number of addresses.' }),
    probedCount: t.exposeInt('probedCount', { description: 'Number of addresses that were asked.' }),
    foundCount: t.exposeInt('foundCount', { description: 'Number of found systems.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it ended early, and the next step; null otherwise.' }),
    found: t.relatedConnection(
      'found',
      { description: 'What was found.', totalCount: true, query: { orderBy: { id: 'asc' as const } }, ...PAGED },
      ...foundConnection,
    ),
    createdBy: t.field(actorField('created', 'Actor that started it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end; null before.' }),
  }),
})
const discoveryConnection = connectionTypes(BmcDiscovery, 'BmcDiscovery', 'searches for BMCs')

const payload = { bmcDiscovery: { type: BmcDiscovery, description: 'The search.' } }

mutation('discoverBmcs', {
  action: bmcDiscoveryAudit.start,
  description:
    'Searches addresses for Redfish services. It finds their products and certificates without a login. A credential is sent only to services with a trusted certificate; then it also reads the systems and finds their nodes.',
  input: (t) => ({
    addresses: t.stringList({
      required: true,
      description:
        'Host names, addresses, ranges (`10.0.1.1-64`) and networks (`10.0.1.0/24`); at most 500 entries with 4096 addresses in total.',
    }),
    port: t.int({ description: 'Port. Default: 443.' }),
    credentialId: t.id({ description: 'ID of a credential of the kind BMC.' }),
    caCertificate: t.string({
      description: 'PEM certificates of the only trusted authorities. Default: those that the installation trusts.',
    }),
  }),
  idempotent: true,
  payload,
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx }) => ({
    bmcDiscovery: await discoverBmcs(ctx, { ...input, credentialId: rowIdIfGiven('Credential', input.credentialId) }),
  }),
})

mutation('cancelBmcDiscovery', {
  description: 'Requests the end of a search for BMCs. What was found stays.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the search.' }) }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ bmcDiscovery: await cancelBmcDiscovery(ctx, { id: rowId('BmcDiscovery', id) }) }),
})

builder.queryFields((t) => ({
  bmcDiscoveries: t.drizzleConnection(
    {
      type: BmcDiscovery,
      description: 'Searches for BMCs, newest first.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(bmcDiscoveries, visibleTo(ctx, bmcDiscoveries)),
      resolve: (query, _root, _args, { ctx }) =>
        ctx.db.query.bmcDiscoveries.findMany(query({ where: { tenantId: ctx.tenantId }, orderBy: { id: 'desc' } })),
    },
    ...discoveryConnection,
  ),
  bmcDiscovery: t.drizzleField({
    type: BmcDiscovery,
    nullable: true,
    description: 'Search for BMCs; null when there is none with this ID.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the search.' }) },
    resolve: (query, _root, { id }, { ctx }) =>
      ctx.db.query.bmcDiscoveries.findFirst(query({ where: { tenantId: ctx.tenantId, id: rowId('BmcDiscovery', id) } })),
  }),
}))

builder.subscriptionFields((t) => ({
  bmcDiscoveryUpdated: t.drizzleField({
    type: BmcDiscovery,
    description: 'Emits a search for BMCs now and after each change. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the search.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'bmcDiscovery', [rowId('BmcDiscovery', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.bmcDiscoveries.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
