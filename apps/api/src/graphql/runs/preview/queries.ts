import { tenantPermissions } from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { previewRun } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { RunJobInput, runInput } from '../mutations.ts'
import { RunPreviewType } from './types.ts'

builder.queryField('previewRun', (t) =>
  t.field({
    type: RunPreviewType,
    description: 'Preview of what `runJob` would do with the same input. Nothing is started.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: RunJobInput, required: true, description: 'Input of `runJob`.' }) },
    resolve: (_root, { input }, { ctx }) => previewRun(ctx, runInput(input)),
  }),
)
