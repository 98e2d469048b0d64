import { Conflict, NotFound } from '@muster/core/errors'
import { previewRun } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { RunJobInput, runInput } from '../types.ts'
import { RunPreviewType } from './types.ts'

builder.queryField('previewRun', (t) =>
  t.field({
    type: RunPreviewType,
    description: 'What `runJob` would do with the same input, without doing it.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: RunJobInput, required: true, description: 'What and where.' }) },
    resolve: (_root, { input }, { ctx }) => previewRun(ctx, runInput(input)),
  }),
)
