import { tenantPermissions } from '@muster/core/access'
import { NotFound } from '@muster/core/errors'
import { checkNodeImport } from '@muster/core/nodes'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { importFields } from '../inputs.ts'
import { NodeImportReport, toVerbInput } from './types.ts'

const CheckNodeImportInput = builder.inputType('CheckNodeImportInput', {
  description: 'Input of `checkNodeImport`.',
  fields: importFields,
})

builder.queryField('checkNodeImport', (t) =>
  t.field({
    type: NodeImportReport,
    description: 'Validates an import without adding nodes.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, NotFound], union: { description: 'Result of the validation, or the error.' } },
    args: { input: t.arg({ type: CheckNodeImportInput, required: true, description: 'Input of `checkNodeImport`.' }) },
    resolve: (_root, { input }, { ctx }) => checkNodeImport(ctx, toVerbInput(input)),
  }),
)
