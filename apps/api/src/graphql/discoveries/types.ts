import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { DiscoveryRow, diffNodeDiscoveries } from '@muster/core/discoveries'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { DiscoveryReason, DiscoveryStatus, ToolState } from './enums.ts'

const { discoveryEvidence } = schema

const ToolReport = builder.objectRef<NonNullable<DiscoveryRow['result']>['tools'][number]>('ToolReport').implement({
  description: "How one vendor's tool answered. A tool that failed never counts as 0 devices.",
  fields: (t) => ({
    tool: t.exposeString('tool', { description: 'Its name: nvidia-smi, amd-smi, rocm-smi, xpu-smi, npu-smi, ppu-smi.' }),
    state: t.expose('state', { type: ToolState, description: 'How it answered.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it is not OK.' }),
    version: t.exposeString('version', { nullable: true, description: 'Its version.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'How long it took, in ms.' }),
    deviceCount: t.exposeInt('deviceCount', {
      nullable: true,
      description: 'How many devices it reported; null unless it answered.',
    }),
  }),
})

export const Discovery = builder.drizzleNode('discoveries', {
  name: 'Discovery',
  description: 'One look at one node: what it is made of. Its result is a snapshot that never changes.',
  select: { columns: { id: true } },
  id: { column: (d) => d.id },
  fields: (t) => ({
    node: t.relation('node', { description: 'The node that was looked at.' }),
    reason: t.expose('reason', { type: DiscoveryReason, description: 'Why it was made.' }),
    status: t.expose('status', { type: DiscoveryStatus, description: 'Where it stands.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there is no result, and what to do next.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'How long the probe took, in ms.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began with it.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
    tools: t.field({
      type: [ToolReport],
      description: "How each vendor's tool answered.",
      select: { columns: { result: true } },
      resolve: (d) => d.result?.tools ?? [],
    }),
    warnings: t.stringList({
      description: 'What does not fit together, for example devices on the PCI bus that no tool reports.',
      select: { columns: { result: true } },
      resolve: (d) => d.result?.warnings ?? [],
    }),
    acceleratorCount: t.int({
      description: 'How many accelerators it found.',
      select: { columns: { result: true } },
      resolve: (d) => d.result?.accelerators.length ?? 0,
    }),
    result: t.expose('result', {
      type: 'JSON',
      nullable: true,
      description: 'Everything it found, as stored; null until it succeeded.',
    }),
    evidence: t.string({
      nullable: true,
      description: 'The raw output of the probe. Read only when asked for; can be large.',
      select: { columns: { id: true } },
      complexity: 100,
      resolve: async (d, _args, { ctx }) => {
        const [row] = await ctx.db.select().from(discoveryEvidence).where(eq(discoveryEvidence.discoveryId, d.id))
        return row ? (await promisify(gunzip)(row.gzip)).toString('utf8') : null
      },
    }),
  }),
})

export const discoveryConnection = connectionTypes(Discovery, 'Discovery', 'discoveries')

builder.drizzleObjectFields(ComputeNode, (t) => ({
  latestDiscovery: t.field({
    type: Discovery,
    nullable: true,
    description: 'The discovery asked for last, whether it is over or not.',
    select: (_args, _context, nested) => ({ with: { discoveries: nested({ limit: 1, orderBy: { id: 'desc' } }) } }),
    resolve: (n) => n.discoveries[0] ?? null,
  }),
  discoveries: t.relatedConnection(
    'discoveries',
    { description: 'Discoveries of it, the newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...discoveryConnection,
  ),
}))

export const DiscoveryChange = builder
  .objectRef<Awaited<ReturnType<typeof diffNodeDiscoveries>>[number]>('DiscoveryChange')
  .implement({
    description: 'One difference between two discoveries.',
    fields: (t) => ({
      path: t.exposeString('path', { description: 'Where in the result, dotted.' }),
      label: t.exposeString('label', { description: 'What it is about, for people.' }),
      kind: t.exposeString('kind', { description: 'added, removed or changed.' }),
      before: t.expose('before', { type: 'JSON', nullable: true, description: 'What was there; null when it was added.' }),
      after: t.expose('after', { type: 'JSON', nullable: true, description: 'What is there; null when it was removed.' }),
    }),
  })
