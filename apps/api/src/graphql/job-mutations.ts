import { Conflict, NotFound } from '@muster/core/errors'
import { cancelJobRun, runJob } from '@muster/core/jobs'
import { builder } from '../builder.ts'
import { COMMON } from './errors.ts'
import { rowId } from './ids.ts'
import { JobRun } from './jobs.ts'

export const RunJobInput = builder.inputType('RunJobInput', {
  description: 'A run to start. What is left out comes from the template.',
  fields: (t) => ({
    template: t.string({ required: true, description: 'Name of the job template.' }),
    nodeIds: t.idList({ description: 'Where to run: these nodes. Give this or `limit`.' }),
    limit: t.string({
      description:
        'Where to run: a hostlist (`gpu[001-064]`), `@group`, `tag:x`, `status:READY`, `vendor:amd`, a node query in braces (`{tag = prod and not memory < 512GiB}`) or `all`; a comma unites, `!` takes away. Give this or `nodeIds`.',
    }),
    extraVars: t.field({
      type: 'JSON',
      description: 'Extra vars, an object. Their text stays text: templates in it are not evaluated.',
    }),
    become: t.boolean({ description: 'Whether its tasks run as another user.' }),
    forks: t.int({ description: 'How many hosts are worked on at once, 1 to 500.' }),
    timeoutSeconds: t.int({ description: 'When it takes longer it is stopped, in s.' }),
    serial: t.string({
      description: 'Hosts at a time, as Ansible takes it: `5`, `30%`, or several such as `1,5,30%`, the last of which repeats.',
    }),
    maxFailPercentage: t.int({
      description: 'The play ends when more than this share of the hosts of a batch has failed, 0 to 100 %.',
    }),
    jobTags: t.stringList({ description: 'Only tasks with one of these tags (`--tags`).' }),
    skipTags: t.stringList({ description: 'No tasks with one of these tags (`--skip-tags`).' }),
    checkMode: t.boolean({ description: 'Only say what it would change.' }),
    diffMode: t.boolean({ description: 'Show what it changes in files.' }),
    verbosity: t.int({ description: "Ansible's verbosity, 0 to 4." }),
    reason: t.string({ description: 'Why it is started.' }),
    idempotencyKey: t.string({
      description: 'The same key gives the run that was first started with it, so that trying again is safe.',
    }),
  }),
})

/** As the verbs take it. */
export const runInput = ({ nodeIds, extraVars, ...input }: typeof RunJobInput.$inferInput) => ({
  ...input,
  nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)),
  // Whether it is an object is for the verb to say.
  extraVars: extraVars as Record<string, unknown> | null | undefined,
})

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
