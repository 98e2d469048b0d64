import { Conflict, NotFound } from '@muster/core/errors'
import { cancelJobRun, jobRunAudit, runJob } from '@muster/core/runs'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { runSettingFields } from './setting-fields.ts'
import { JobRun } from './types.ts'

const payload = { run: { type: JobRun, description: 'The run.' } }

export const RunJobInput = mutation('runJob', {
  action: jobRunAudit.start,
  description: "Starts a run: a template's playbook on the given nodes. Settings that are omitted are those of the template.",
  input: (t) => ({
    template: t.string({ required: true, description: 'Name of the job template.' }),
    nodeIds: t.idList({ description: 'Nodes to run on, at most 10,000. Exactly one of `nodeIds` and `limit` is required.' }),
    limit: t.string({
      description:
        'Selector of the nodes to run on: a hostlist (`gpu[001-064]`), `@group`, `tag:x`, `status:READY`, `vendor:amd`, a node query in braces (`{tag = prod and not memory < 512GiB}`) or `all`. A comma unites selectors, `!` excludes. Exactly one of `nodeIds` and `limit` is required.',
    }),
    ...runSettingFields(t),
    reason: t.string({ description: 'Why the run is started.' }),
    includeOffline: t.boolean({ description: 'Whether the run includes nodes with an OFFLINE agent, which it otherwise skips.' }),
  }),
  payload,
  errors: [Conflict, NotFound],
  idempotent: true,
  resolve: async (input, { ctx }) => ({ run: await runJob(ctx, runInput(input)) }),
})

/** The input as the verbs take it. */
export const runInput = <T extends { nodeIds?: string[] | null; extraVars?: unknown }>({ nodeIds, extraVars, ...input }: T) => ({
  ...input,
  nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)),
  // The verb checks that it is an object.
  extraVars: extraVars as Record<string, unknown> | null | undefined,
})

mutation('cancelJobRun', {
  description:
    'Requests cancellation of a run. A pending run ends immediately; a running one ends when its worker has stopped it.',
  input: (t) => ({ id: t.id({ required: true, description: 'Run ID.' }) }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ run: await cancelJobRun(ctx, { id: rowId('JobRun', id) }) }),
})
