import type { RunSettings as Settings } from '@muster/core/runs'
import { builder } from '../../builder.ts'
import type { InputFields } from '../shared/mutation.ts'
import { SlurmRunInput } from './slurm/inputs.ts'

/** Launch settings of a run, which replace those of its template. */
export const runSettingFields = (t: InputFields) => ({
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
  slurm: t.field({
    type: SlurmRunInput,
    description:
      'Drains the nodes in Slurm batch by batch, and runs when no job is left on them. All nodes must belong to one cluster. Omitted: runs at once, beside jobs.',
  }),
})

export const RunSettingsInput = builder.inputType('RunSettingsInput', {
  description: 'Launch settings of runs that start later. Settings that are omitted are those of the template at that time.',
  fields: runSettingFields,
})

/** The input as the verbs take it. */
export const settingsInput = (input: typeof RunSettingsInput.$inferInput | null | undefined): Settings | undefined =>
  // The verb checks that the variables are an object.
  input ? (input as Settings) : undefined

export const RunSettings = builder.objectRef<Settings>('RunSettings').implement({
  description: 'Launch settings of runs that start later. Null: as in the template at that time.',
  fields: (t) => ({
    extraVars: t.field({
      type: 'JSON',
      description: 'Extra vars, an object.',
      resolve: ({ extraVars }) => extraVars ?? {},
    }),
    become: t.exposeBoolean('become', { nullable: true, description: 'Whether tasks run as another user.' }),
    forks: t.exposeInt('forks', { nullable: true, description: 'Number of hosts to work on at once.' }),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { nullable: true, description: 'Time limit in seconds.' }),
    serial: t.exposeString('serial', { nullable: true, description: 'Batch size of hosts.' }),
    maxFailPercentage: t.exposeInt('maxFailPercentage', {
      nullable: true,
      description: 'Percentage of failed hosts of a batch above which the play is aborted.',
    }),
    jobTags: t.exposeStringList('jobTags', {
      nullable: true,
      description: 'Runs only tasks with one of these tags. At most 50.',
    }),
    skipTags: t.exposeStringList('skipTags', { nullable: true, description: 'Skips tasks with one of these tags. At most 50.' }),
    checkMode: t.exposeBoolean('checkMode', { nullable: true, description: 'Whether changes are only reported.' }),
    diffMode: t.exposeBoolean('diffMode', { nullable: true, description: 'Whether changes in files are shown.' }),
    verbosity: t.exposeInt('verbosity', { nullable: true, description: 'Verbosity of Ansible.' }),
    drainsSlurmNodes: t.boolean({
      description: 'Whether runs drain the nodes in Slurm batch by batch.',
      resolve: ({ slurm }) => Boolean(slurm),
    }),
  }),
})
