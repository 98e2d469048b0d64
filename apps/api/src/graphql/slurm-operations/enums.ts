import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const SlurmOperationKind = builder.enumType('SlurmOperationKind', {
  description: 'What an operation on a Slurm cluster does.',
  values: same({
    CREATE: 'Create a cluster from nodes.',
    SCALE_OUT: 'Add nodes.',
    SCALE_IN: 'Remove nodes.',
    POWER_SAVING: 'Turn power saving on or off, or change its settings.',
    CONFIGURE: 'Import the configuration, compare it with the hosts, or roll it out.',
  }),
})

export const SlurmOperationStatus = builder.enumType('SlurmOperationStatus', {
  description: 'State of an operation on a Slurm cluster.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'A worker executes its steps, or undoes them.',
    SUCCEEDED: 'Done.',
    PARTIAL: 'Done, without the nodes that failed.',
    FAILED: 'Failed and undone.',
    CANCELED: 'Canceled by a user and undone.',
  }),
})

export const SlurmStepState = builder.enumType('SlurmStepState', {
  description: 'State of a step of an operation.',
  values: same({ RUNNING: 'A worker executes it.', DONE: 'Done.', FAILED: 'Failed.' }),
})

export const SlurmCheckState = builder.enumType('SlurmCheckState', {
  description: 'Result of a check of a node.',
  values: same({ OK: 'As needed.', WARNING: 'Possible, with a drawback.', FAILED: 'The node cannot take part.' }),
})
