import { tenantPermissions } from '@muster/core/access'
import { countFailureSignatures, failureSignatures } from '@muster/core/runs'
import { resolveOffsetConnection } from '@pothos/plugin-relay'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { rowIdIfGiven } from '../../shared/ids.ts'
import { FailureSignature, failureConnection } from './types.ts'

const FailureSignatureFilter = builder.inputType('FailureSignatureFilter', {
  description: 'Filter of failure signatures by the runs in which they occurred. A run must match all fields that are given.',
  fields: (t) => ({
    runId: t.id({ description: 'Is this run.' }),
    templateId: t.id({ description: 'Is a run of this template.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created at this time or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this time.' }),
  }),
})

builder.queryField('failureSignatures', (t) =>
  t.connection(
    {
      type: FailureSignature,
      description: 'Failures of runs, most frequent first.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: FailureSignatureFilter, description: 'Filter.' }) },
      ...PAGED,
      resolve: async (_root, { filter, ...args }, { ctx }) => {
        const of = {
          ...filter,
          runId: rowIdIfGiven('JobRun', filter?.runId),
          templateId: rowIdIfGiven('JobTemplate', filter?.templateId),
        }
        const page = await resolveOffsetConnection(
          { args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize },
          ({ limit, offset }) => failureSignatures(ctx, of, { limit, offset }),
        )
        return { ...page, totalCount: () => countFailureSignatures(ctx, of) }
      },
    },
    ...failureConnection,
  ),
)
