import { failureSignatures } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { LimitError } from '../../../limits.ts'
import { rowIdIfGiven } from '../../shared/ids.ts'
import { FailureSignature } from './types.ts'

const MOST_FAILURES = 200

builder.queryFields((t) => ({
  failureSignatures: t.field({
    type: [FailureSignature],
    description: 'What runs failed with, the most frequent first.',
    authScopes: { authenticated: true },
    args: {
      runId: t.arg.id({ description: 'Only in this run.' }),
      templateId: t.arg.id({ description: 'Only in runs of this template.' }),
      since: t.arg({ type: 'DateTime', description: 'Only in runs that were asked for then or later.' }),
      first: t.arg.int({ defaultValue: 50, description: `At most this many, at most ${MOST_FAILURES}.` }),
    },
    resolve: (_root, { runId, templateId, since, first }, { ctx }) => {
      const most = first ?? 50
      if (most > MOST_FAILURES) throw new LimitError('PAGE', MOST_FAILURES, most, 'Filter by `since`.')
      return failureSignatures(ctx, {
        runId: rowIdIfGiven('JobRun', runId) ?? null,
        templateId: rowIdIfGiven('JobTemplate', templateId) ?? null,
        since: since ?? null,
        first: Math.max(0, most),
      })
    },
  }),
}))
