import { NotFound } from '@muster/core/errors'
import { checkNodeImport } from '@muster/core/nodes'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { NodeImportInput } from '../inputs.ts'
import { NodeImportReport, verbInput } from './types.ts'

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
