import { Conflict, NotFound } from '@muster/core/errors'
import { cancelJobRun, jobRunAudit, runJob } from '@muster/core/runs'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { SlurmRunInput } from './slurm/inputs.ts'
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
    extraVars: t.field({
      type: 'JSON',
      description: 'Extra vars, an object. Jinja templates in values are not evaluated.',
    }),
    become: t.boolean({ description: 'Whether tasks run as another user.' }),
    forks: t.int({ description: 'Number of hosts to work on at once, 1 to 500.' }),
    timeoutSeconds: t.int({ description: 'The run is stopped when it takes longer, in seconds.' }),
    serial: t.string({
      description: 'Batch size of hosts, as in Ansible: `5`, `30%` or several such as `1,5,30%`. The last one repeats.',
    }),
    maxFailPercentage: t.int({
      description: 'The play is aborted when more than this percentage of the hosts of a batch failed, 0 to 100.',
    }),
    jobTags: t.stringList({ description: 'Runs only tasks with one of these tags (`--tags`). At most 50.' }),
    skipTags: t.stringList({ description: 'Skips tasks with one of these tags (`--skip-tags`). At most 50.' }),
    checkMode: t.boolean({ description: 'Reports what would change without changing it (`--check`).' }),
    diffMode: t.boolean({ description: 'Shows the changes in files (`--diff`).' }),
    verbosity: t.int({ description: 'Verbosity of Ansible, 0 to 4.' }),
    reason: t.string({ description: 'Why the run is started.' }),
    slurm: t.field({
      type: SlurmRunInput,
      description:
        'Drains the nodes in Slurm batch by batch, and runs when no job is left on them. All nodes must belong to one cluster. Omitted: runs at once, beside jobs.',
    }),
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
