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
  description: 'Result of one row of an import.',
  fields: (t) => ({
    row: t.exposeInt('row', { description: 'Row number, from 1. A hostlist yields one row per name.' }),
    source: t.exposeString('source', { description: 'Text of the row.' }),
    name: t.exposeString('name', { nullable: true, description: 'Parsed name.' }),
    host: t.exposeString('host', { nullable: true, description: 'Parsed host.' }),
    port: t.exposeInt('port', { nullable: true, description: 'Parsed port.' }),
    state: t.expose('state', { type: NodeImportState, description: 'Result.' }),
    issues: t.expose('issues', { type: [InputIssueType], description: 'Problems of the row; at most one per field.' }),
    node: t.field({
      type: ComputeNode,
      nullable: true,
      description: 'The added or existing node.',
      resolve: (row) => row.node ?? null,
    }),
  }),
})

export const NodeImportReport = builder.objectRef<Report>('NodeImportReport').implement({
  description: 'Result of an import.',
  fields: (t) => ({
    rows: t.expose('rows', { type: [NodeImportRow], description: 'Rows in input order; at most 10,000.' }),
    addedCount: t.exposeInt('addedCount', { description: 'Number of added nodes.' }),
    failedCount: t.exposeInt('failedCount', { description: 'Number of invalid rows.' }),
  }),
})

type ImportInput = InputShapeFromFields<ReturnType<typeof importFields>>

export const toVerbInput = ({ defaults, ...input }: ImportInput) => ({
  ...given(input),
  ...(defaults ? { defaults: given(withRowIds(defaults)) } : {}),
})
