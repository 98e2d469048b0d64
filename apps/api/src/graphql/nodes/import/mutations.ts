import { Conflict, NotFound } from '@muster/core/errors'
import { importNodes } from '@muster/core/nodes'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { NodeImportInput } from '../inputs.ts'
import { NodeImportReport, verbInput } from './types.ts'

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
