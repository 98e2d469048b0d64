import { type PreviewHost, previewInventory, type RunPreview } from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { builder } from '../../../builder.ts'
import { LimitError } from '../../../limits.ts'
import { RunBlocker } from '../../run-queue/types.ts'
import { globalId } from '../../shared/ids.ts'
import { JobTemplate } from '../../templates/types.ts'
import { EffectiveVarType } from '../../variables/types.ts'

const MOST_HOSTS = 1000

const PreviewHostType = builder.objectRef<PreviewHost>('RunPreviewHost').implement({
  description: 'One host of a run that was not started.',
  fields: (t) => ({
    nodeId: t.id({ description: 'Id of the node.', resolve: ({ node }) => globalId('ComputeNode', node.id) }),
    name: t.string({ description: "The node's name.", resolve: ({ node }) => node.name }),
    groups: t.exposeStringList('groups', { description: 'The groups that it is in, nearest last.' }),
    vars: t.expose('vars', {
      type: [EffectiveVarType],
      description: "Every variable that holds on it, the run's extra vars included, and where it comes from.",
    }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the run would be refused there, as a sentence about the node; null: it would not.',
    }),
  }),
})

type Refusal = { reason: string; hosts: string[] }

const RefusalType = builder.objectRef<Refusal>('RunRefusal').implement({
  description: 'Hosts that a run would be refused for one reason.',
  fields: (t) => ({
    reason: t.exposeString('reason', { description: 'The reason, as a sentence about the hosts.' }),
    count: t.int({ description: 'How many there are.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'Their names, folded: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
  }),
})

export const RunPreviewType = builder.objectRef<RunPreview>('RunPreview').implement({
  description: 'What a run would be. Nothing was started or kept.',
  fields: (t) => ({
    template: t.drizzleField({
      type: JobTemplate,
      description: 'The template.',
      resolve: async (query, { template }, _args, { ctx }) =>
        (await ctx.db.query.jobTemplates.findFirst(query({ where: { tenantId: ctx.tenantId, id: template.id } })))!,
    }),
    hostsTotal: t.int({ description: 'On how many hosts it would run.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({
      description: 'Which hosts, folded: `gpu[001-064]`.',
      resolve: ({ hosts }) => foldHostlist(hosts.map(({ node }) => node.name)),
    }),
    hosts: t.field({
      type: [PreviewHostType],
      description: 'Its hosts, in the order of their names.',
      args: { first: t.arg.int({ defaultValue: 100, description: 'At most this many, at most 1000.' }) },
      resolve: ({ hosts }, { first }) => {
        const limit = first ?? 100
        if (limit > MOST_HOSTS) throw new LimitError('PAGE', MOST_HOSTS, limit, 'Page with `offset`.')
        return hosts.slice(0, Math.max(0, limit))
      },
    }),
    extraVars: t.expose('extraVars', {
      type: 'JSON',
      description: 'Its extra vars, those of the template and its schema included.',
    }),
    secretVars: t.exposeStringList('secretVars', { description: 'Names of extra vars that are secret.' }),
    command: t.exposeStringList('command', {
      description: "What the worker would start, argument by argument, in the run's private directory.",
    }),
    inventory: t.field({
      type: 'JSON',
      description: 'Its inventory as `ansible-inventory --list` prints it, with null for secrets and without logins.',
      resolve: (preview) => previewInventory(preview),
    }),
    refusals: t.field({
      type: [RefusalType],
      description: 'Why it would be refused; empty: it would be started.',
      resolve: ({ hosts }) =>
        [...Map.groupBy(hosts, (host) => host.blockedReason)].flatMap(([reason, some]) =>
          reason === null ? [] : [{ reason, hosts: some.map(({ node }) => node.name) }],
        ),
    }),
    waitsFor: t.expose('waitsFor', {
      type: [RunBlocker],
      description: 'Runs that it would wait for, as they have some of its nodes or came before it, at most 20.',
    }),
  }),
})
