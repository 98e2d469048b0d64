import { setRetention } from '@muster/core/runs'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { Retention } from './types.ts'

builder.mutationFields((t) => ({
  setRetention: t.field({
    type: Retention,
    description:
      'Say for how long things of runs are kept. What is left out stays as it was; null: for ever. What is older goes within minutes, for good.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: {
      logDays: t.arg.int({ description: 'Days that logs are kept.' }),
      artifactDays: t.arg.int({ description: 'Days that artifacts are kept.' }),
      runDays: t.arg.int({ description: 'Days that runs are kept.' }),
    },
    resolve: (_root, args, { ctx }) => setRetention(ctx, args),
  }),
}))
