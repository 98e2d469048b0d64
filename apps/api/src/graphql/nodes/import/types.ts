import type { importNodes } from '@muster/core/nodes'
import type { InputShapeFromFields } from '@pothos/core'
import { builder } from '../../../builder.ts'
import { InputIssueType } from '../../shared/errors.ts'
import { given } from '../../shared/ids.ts'
import { type importFields, withRowIds } from '../inputs.ts'
import { ComputeNode } from '../types.ts'
import { NodeImportState } from './enums.ts'

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

export const NodeImportReport = builder.objectRef<Report>('NodeImportReport').implement({
  description: 'What became of an import, row by row.',
  fields: (t) => ({
    rows: t.expose('rows', { type: [NodeImportRow], description: 'All rows, in their order.' }),
    addedCount: t.exposeInt('addedCount', { description: 'How many nodes were added.' }),
    failedCount: t.exposeInt('failedCount', { description: 'How many rows are wrong.' }),
  }),
})

type ImportInput = InputShapeFromFields<ReturnType<typeof importFields>>

export const toVerbInput = ({ defaults, ...input }: ImportInput) => ({
  ...given(input),
  ...(defaults ? { defaults: given(withRowIds(defaults)) } : {}),
})
