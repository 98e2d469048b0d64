import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isOneOf } from '@muster/core/db'
import type { DiscoveryRow, diffNodeDiscoveries } from '@muster/core/discoveries'
import { schema } from '@muster/core/registry'
import { sql, sum } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { countBytes } from '../../limits.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { DiscoveryChangeKind, DiscoveryReason, DiscoveryStatus, ToolState, VendorTool } from './enums.ts'

const { discoveryEvidence } = schema

/** Compressed output of the probe of each discovery. */
const evidenceOf = loader<Buffer>(async (context, ids) => {
  const { ctx } = context
  const isRequested = isOneOf(discoveryEvidence.discoveryId, [...ids])
  const [size] = await ctx.db
    .select({ bytes: sum(sql`octet_length(${discoveryEvidence.gzip})`).mapWith(Number) })
    .from(discoveryEvidence)
    .where(isRequested)
  countBytes(context, size?.bytes ?? 0)
  const rows = await ctx.db.select().from(discoveryEvidence).where(isRequested)
  return new Map(rows.map(({ discoveryId, gzip }) => [discoveryId, gzip]))
})

const ToolReport = builder.objectRef<NonNullable<DiscoveryRow['result']>['tools'][number]>('ToolReport').implement({
  description: 'Result of one vendor tool in a discovery.',
  fields: (t) => ({
    tool: t.expose('tool', { type: VendorTool, description: 'Tool.' }),
    state: t.expose('state', { type: ToolState, description: 'Result.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Reason for a state other than OK.' }),
    version: t.exposeString('version', { nullable: true, description: 'Version of the tool.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'Duration in ms.' }),
    deviceCount: t.exposeInt('deviceCount', {
      nullable: true,
      description: 'Number of reported devices; null unless the state is OK.',
    }),
  }),
})

export const Discovery = builder.drizzleNode('discoveries', {
  name: 'Discovery',
  description: 'A hardware discovery of a node. A finished discovery does not change.',
  select: { columns: { id: true } },
  id: { column: (d) => d.id, description: 'Discovery ID.' },
  fields: (t) => ({
    node: t.relation('node', { description: 'Discovered node.' }),
    reason: t.expose('reason', { type: DiscoveryReason, description: 'Trigger.' }),
    status: t.expose('status', { type: DiscoveryStatus, description: 'State.' }),
    error: t.exposeString('error', { nullable: true, description: 'Reason of the failure and the next step; null otherwise.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'Duration of the probe in ms.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'Time of the start.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end.' }),
    tools: t.field({
      type: [ToolReport],
      description: 'Results of the vendor tools; at most one per tool.',
      select: { columns: { result: true } },
      resolve: (d) => d.result?.tools ?? [],
    }),
    warnings: t.stringList({
      description: 'Inconsistencies, for example devices on the PCI bus that no tool reports; at most 100.',
      select: { columns: { result: true } },
      resolve: (d) => (d.result?.warnings ?? []).slice(0, 100),
    }),
    acceleratorCount: t.int({
      description: 'Number of discovered accelerators.',
      select: { columns: { result: true } },
      resolve: (d) => d.result?.accelerators.length ?? 0,
    }),
    evidence: t.string({
      nullable: true,
      description: 'Raw output of the probe; can be large. Null when none is stored.',
      select: { columns: { id: true } },
      complexity: 100,
      resolve: async (d, _args, context) => {
        const gzip = await evidenceOf(context, d.id)
        if (!gzip) return null
        // The last four bytes are the size of the content.
        countBytes(context, gzip.readUInt32LE(gzip.length - 4))
        return (await promisify(gunzip)(gzip)).toString('utf8')
      },
    }),
  }),
})

export const discoveryConnection = connectionTypes(Discovery, 'Discovery', 'discoveries')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  latestDiscovery: t.field({
    type: Discovery,
    nullable: true,
    description: 'Latest discovery, finished or not; null when there is none.',
    select: (_args, _context, nested) => ({ with: { discoveries: nested({ limit: 1, orderBy: { id: 'desc' } }) } }),
    resolve: (n) => n.discoveries[0] ?? null,
  }),
  discoveries: t.relatedConnection(
    'discoveries',
    { description: 'Discoveries of the node, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...discoveryConnection,
  ),
}))

/** Text of a scalar or a list of scalars; null for objects, which the label of the change describes. */
const valueText = (value: unknown): string | null => {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object') ? null : value.join(', ')
  return value === null || value === undefined || typeof value === 'object' ? null : String(value)
}

export const DiscoveryChange = builder
  .objectRef<Awaited<ReturnType<typeof diffNodeDiscoveries>>[number]>('DiscoveryChange')
  .implement({
    description: 'A difference between two discoveries.',
    fields: (t) => ({
      path: t.exposeString('path', { description: 'Path of the value, for example `host.kernel`.' }),
      label: t.exposeString('label', { description: 'Summary with the values.' }),
      kind: t.expose('kind', { type: DiscoveryChangeKind, description: 'Kind.' }),
      before: t.string({
        nullable: true,
        description: 'Earlier value as text; null when unknown, and for objects such as devices.',
        resolve: ({ before }) => valueText(before),
      }),
      after: t.string({
        nullable: true,
        description: 'Later value as text; null when unknown, and for objects such as devices.',
        resolve: ({ after }) => valueText(after),
      }),
    }),
  })
