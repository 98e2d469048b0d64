import { Conflict, NotFound } from '@muster/core/errors'
import { cancelJobRun, runJob } from '@muster/core/runs'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { JobRun, RunJobInput, runInput } from './types.ts'

builder.mutationFields((t) => ({
  runJob: t.field({
    type: JobRun,
    description: "Start a template's playbook on some nodes.",
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: RunJobInput, required: true, description: 'What and where.' }) },
    resolve: (_root, { input }, { ctx }) => runJob(ctx, runInput(input)),
  }),
  cancelJobRun: t.field({
    type: JobRun,
    description: 'Ask a run to stop. One that nobody has started ends at once; a running one when its worker has stopped it.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which run.' }) },
    resolve: (_root, { id }, { ctx }) => cancelJobRun(ctx, { id: rowId('JobRun', id) }),
  }),
}))
