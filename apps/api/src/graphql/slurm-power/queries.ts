import { tenantPermissions } from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { previewSlurmPowerSaving } from '@muster/core/slurm-power'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { powerSavingFields, powerSavingInput } from './mutations.ts'
import { PowerSavingPreview } from './types.ts'

const Input = builder.inputType('PreviewSlurmPowerSavingInput', {
  description: 'Power saving settings to preview.',
  fields: powerSavingFields,
})

builder.queryField('previewSlurmPowerSaving', (t) =>
  t.field({
    type: PowerSavingPreview,
    description: 'Preview of `setSlurmPowerSaving`: which nodes may be suspended, and how the configuration changes.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: Input, required: true, description: 'Settings.' }) },
    resolve: (_root, { input }, { ctx }) => previewSlurmPowerSaving(ctx, powerSavingInput(input)),
  }),
)
