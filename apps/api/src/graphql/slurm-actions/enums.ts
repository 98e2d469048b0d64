import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const SlurmActionVerb = builder.enumType('SlurmActionVerb', {
  description: 'What an action does. Each one names the permission that it needs.',
  values: same({
    DRAIN_NODES: 'Running jobs continue, no others start (`slurm:node:drain`).',
    RESUME_NODES: 'End drains, and make nodes that are down available (`slurm:node:resume`).',
    UNDRAIN_NODES: 'End drains; nodes that are down stay down (`slurm:node:resume`).',
    DOWN_NODES: 'Set nodes down: Slurm ends or requeues their jobs (`slurm:node:down`).',
    POWER_UP_NODES: 'Power nodes up through Slurm (`slurm:node:power`).',
    POWER_DOWN_NODES: 'Power nodes down through Slurm, after the end of their jobs (`slurm:node:power`).',
    REBOOT_NODES: 'Reboot nodes after the end of their jobs; no others start before (`slurm:node:reboot`).',
    UPDATE_NODES: 'Change features and weight, until slurmctld reads slurm.conf again (`slurm:node:update`).',
    HOLD_JOBS: 'Keep pending jobs from starting (`slurm:job:hold`).',
    RELEASE_JOBS: 'Release held jobs (`slurm:job:hold`).',
    CANCEL_JOBS: 'Cancel jobs, or send them a signal (`slurm:job:cancel`).',
    REQUEUE_JOBS: 'Stop running jobs and queue them again (`slurm:job:requeue`).',
    SUSPEND_JOBS: 'Suspend running jobs (`slurm:job:suspend`).',
    RESUME_JOBS: 'Resume suspended jobs (`slurm:job:suspend`).',
    UPDATE_JOBS: 'Change time limits and priorities (`slurm:job:update`).',
    SET_PARTITION_STATE: 'Open and close partitions (`slurm:partition:set_state`).',
    CREATE_RESERVATION: 'Create a reservation (`slurm:reservation:write`).',
    UPDATE_RESERVATION: 'Change a reservation (`slurm:reservation:write`).',
    DELETE_RESERVATION: 'Delete a reservation (`slurm:reservation:write`).',
  }),
})

export const SlurmActionStatus = builder.enumType('SlurmActionStatus', {
  description: 'State of an action.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'A worker runs its commands.',
    SUCCEEDED: 'Every target is as wanted.',
    PARTIAL: 'Some targets are as wanted, others not.',
    FAILED: 'No target is as wanted.',
  }),
})

export const SlurmActionResult = builder.enumType('SlurmActionResult', {
  description: 'Result of an action for one target, by what the controller reported after the command.',
  values: same({
    DONE: 'As wanted.',
    UNCHANGED: 'It was so already; no command ran.',
    REFUSED: 'Slurm refused it; see the message.',
    NOT_VERIFIED: 'The command ran, and its effect was not seen.',
    NOT_FOUND: 'The controller has no such object.',
    NOT_SENT: 'No command ran for it.',
  }),
})

export const SlurmNextState = builder.enumType('SlurmNextState', {
  description: 'State of a node after its reboot.',
  values: same({ RESUME: 'Available.', DOWN: 'Down.' }),
})

export const SlurmPartitionState = builder.enumType('SlurmPartitionState', {
  description: 'State of a partition.',
  values: same({
    UP: 'Accepts and starts jobs.',
    DOWN: 'Accepts jobs and starts none.',
    DRAIN: 'Accepts no jobs; those in the queue start.',
    INACTIVE: 'Neither accepts nor starts jobs.',
  }),
})

export const SlurmReservationFlag = builder.enumType('SlurmReservationFlag', {
  description: 'Flag of a reservation.',
  values: same({
    MAINT: 'For maintenance.',
    IGNORE_JOBS: 'Jobs may run on the nodes when it starts.',
    FLEX: 'Its jobs may also use other nodes, and start before it.',
  }),
})
