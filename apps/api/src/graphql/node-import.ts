import { Conflict, NotFound } from '@muster/core/errors'
import { checkNodeImport, importNodes } from '@muster/core/nodes'
import { builder } from '../builder.ts'
import { NodeImportState } from './enums.ts'
import { COMMON, InputIssueType } from './errors.ts'
import { given } from './ids.ts'
import { NodeImportInput, withRowIds } from './node-inputs.ts'
import { ComputeNode } from './nodes.ts'

type Report = Awaited<ReturnType<typeof importNodes>>

const NodeImportRow = builder.objectRef<Report['rows'][number]>('NodeImportRow').implement({
  description: 'What became of one row of an import.',
  fields: (t) => ({
    row: t.exposeInt('row', { description: 'Its number, from 1; a hostlist is as many rows as it has names.' }),
    source: t.exposeString('source', { description: 'What stands there.' }),
    name: t.exposeString('name', { nullable: true, description: 'The name that was read.' }),
    host: t.exposeString('host', { nullable: true, description: 'The host that was read.' }),
    port: t.exposeInt('port', { nullable: true, description: 'The port that was read.' }),
    state: t.expose('state', { type: NodeImportState, description: 'What became of it.' }),
    issues: t.expose('issues', { type: [InputIssueType], description: 'What is wrong with it.' }),
    node: t.field({
      type: ComputeNode,
      nullable: true,
      description: 'The node that was added, or that is there already.',
      resolve: (row) => row.node ?? null,
    }),
  }),
})

const NodeImportReport = builder.objectRef<Report>('NodeImportReport').implement({
  description: 'What became of an import, row by row.',
  fields: (t) => ({
    rows: t.expose('rows', { type: [NodeImportRow], description: 'All rows, in their order.' }),
    addedCount: t.exposeInt('addedCount', { description: 'How many nodes were added.' }),
    failedCount: t.exposeInt('failedCount', { description: 'How many rows are wrong.' }),
  }),
})

const verbInput = ({ defaults, ...input }: typeof NodeImportInput.$inferInput) => ({
  ...given(input),
  ...(defaults ? { defaults: given(withRowIds(defaults)) } : {}),
})

builder.queryField('checkNodeImport', (t) =>
  t.field({
    type: NodeImportReport,
    description: 'What an import would do. Nothing is written.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, NotFound], union: { name: 'NodeImportResult' } },
    args: { input: t.arg({ type: NodeImportInput, required: true, description: 'The import.' }) },
    resolve: (_root, { input }, { ctx }) => checkNodeImport(ctx, verbInput(input)),
  }),
)

builder.mutationField('importNodes', (t) =>
  t.field({
    type: NodeImportReport,
    description: 'Add many nodes at once. Good rows are added even when others are not.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: NodeImportInput, required: true, description: 'The import.' }) },
    resolve: (_root, { input }, { ctx }) => importNodes(ctx, verbInput(input)),
  }),
)
