import { type PreviewHost, previewInventory, type RunPreview } from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { resolveArrayConnection } from '@pothos/plugin-relay'
import { builder } from '../../../builder.ts'
import { ComputeNode } from '../../nodes/types.ts'
import { RunBlocker } from '../../run-queue/types.ts'
import { connectionTypes, PAGED } from '../../shared/connections.ts'
import { JobTemplate } from '../../templates/types.ts'
import { EffectiveVarType, namedValues, Variable } from '../../variables/types.ts'
import { RunPreviewSlurm } from './slurm.ts'

const MAX_REJECTIONS = 100

const RunPreviewHost = builder.objectRef<PreviewHost>('RunPreviewHost').implement({
  description: 'One host of a previewed run.',
  fields: (t) => ({
    name: t.string({ description: 'Name of the node.', resolve: ({ node }) => node.name }),
    node: t.field({
      type: ComputeNode,
      description: 'The node.',
      resolve: ({ node }) => ({ id: node.id }) as typeof ComputeNode.$inferType,
    }),
    groups: t.exposeStringList('groups', {
      description: 'Names of the groups of the node, lowest precedence first. At most as many as the tenant has groups.',
    }),
    vars: t.expose('vars', {
      type: [EffectiveVarType],
      description: 'Effective variables, including the extra vars of the run. Each layer has at most 256 KiB.',
    }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the run would be rejected for the node; null when it would not.',
    }),
    skippedReason: t.exposeString('skippedReason', {
      nullable: true,
      description: 'Why the run would skip the node; null when it would not. `includeOffline` includes it.',
    }),
  }),
})

const hostConnection = connectionTypes(RunPreviewHost, 'RunPreviewHost', 'hosts of a previewed run')

type Rejection = { reason: string; hosts: string[] }

const RunRejection = builder.objectRef<Rejection>('RunRejection').implement({
  description: 'Hosts for which a run would be rejected, or that it would skip, for the same reason.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'The reason.' }),
    count: t.int({ description: 'Number of hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'Hostlist of the hosts: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
  }),
})

export const RunPreviewType = builder.objectRef<RunPreview>('RunPreview').implement({
  description: 'Preview of a run. Nothing is started or stored.',
  fields: (t) => ({
    template: t.drizzleField({
      type: JobTemplate,
      description: 'The template.',
      resolve: async (query, { template }, _args, { ctx }) =>
        (await ctx.db.query.jobTemplates.findFirst(query({ where: { tenantId: ctx.tenantId, id: template.id } })))!,
    }),
    hostCount: t.int({ description: 'Number of hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({
      description: 'Hostlist of the hosts: `gpu[001-064]`.',
      resolve: ({ hosts }) => foldHostlist(hosts.map(({ node }) => node.name)),
    }),
    hosts: t.connection(
      {
        type: RunPreviewHost,
        description: 'Hosts, ordered by name.',
        ...PAGED,
        resolve: ({ hosts }, args) => ({
          ...resolveArrayConnection({ args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize }, hosts),
          totalCount: hosts.length,
        }),
      },
      ...hostConnection,
    ),
    extraVars: t.field({
      type: [Variable],
      description:
        'Extra vars, including secret ones and the defaults of the template and its schema, ordered by name. At most 256 KiB.',
      resolve: ({ extraVars, secretVars }) => namedValues(extraVars, secretVars),
    }),
    command: t.exposeStringList('command', {
      description: 'Command line of ansible-playbook, one element per argument. At most 100.',
    }),
    inventory: t.field({
      type: 'JSON',
      description: 'Inventory in the format of `ansible-inventory --list`: secrets are null, connection variables are left out.',
      resolve: (preview) => previewInventory(preview),
    }),
    rejections: t.field({
      type: [RunRejection],
      description: `Reasons for which the run would be rejected; empty when it would start. At most ${MAX_REJECTIONS}.`,
      resolve: ({ hosts }) =>
        [...Map.groupBy(hosts, (host) => host.blockedReason)]
          .flatMap(([reason, some]) => (reason === null ? [] : [{ reason, hosts: some.map(({ node }) => node.name) }]))
          .slice(0, MAX_REJECTIONS),
    }),
    skipped: t.field({
      type: [RunRejection],
      description: `Hosts that the run would skip, by reason; \`includeOffline\` includes them. At most ${MAX_REJECTIONS}.`,
      resolve: ({ hosts }) =>
        [...Map.groupBy(hosts, (host) => host.skippedReason)]
          .flatMap(([reason, some]) => (reason === null ? [] : [{ reason, hosts: some.map(({ node }) => node.name) }]))
          .slice(0, MAX_REJECTIONS),
    }),
    setsMaintenance: t.exposeBoolean('setsMaintenance', {
      description: 'Whether the nodes are in maintenance while the run executes, because it may reboot them.',
    }),
    waitsFor: t.expose('waitsFor', {
      type: [RunBlocker],
      description: 'Runs that hold or wait for locks of its nodes. At most 20.',
    }),
    slurm: t.expose('slurm', {
      type: RunPreviewSlurm,
      nullable: true,
      description: 'The batches, when the run drains nodes of a Slurm cluster; otherwise null.',
    }),
  }),
})
