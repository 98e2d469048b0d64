import type { SlurmVerb } from '@muster/slurm/commands'
import { definePermissions, type Permission } from '../kernel/permissions.ts'

export const slurmNodePermissions = definePermissions('slurm:node', {
  drain: ['operator', 'Drain nodes of Slurm clusters: running jobs continue, no others start.', 'perCluster'],
  resume: ['operator', 'End drains, and make nodes that are down available to Slurm.', 'perCluster'],
  down: ['admin', 'Set nodes of Slurm clusters down, which ends their jobs.', 'perCluster'],
  power: ['admin', 'Power nodes of Slurm clusters up and down through Slurm.', 'perCluster'],
  reboot: ['admin', 'Reboot nodes of Slurm clusters after the end of their jobs.', 'perCluster'],
  update: ['admin', 'Change features and weights of nodes of Slurm clusters.', 'perCluster'],
})

export const slurmJobPermissions = definePermissions('slurm:job', {
  hold: ['operator', 'Hold and release jobs of Slurm clusters.', 'perCluster'],
  cancel: ['operator', 'Cancel jobs of Slurm clusters, or send them signals.', 'perCluster'],
  requeue: ['operator', 'Requeue jobs of Slurm clusters.', 'perCluster'],
  suspend: ['operator', 'Suspend and resume jobs of Slurm clusters.', 'perCluster'],
  update: ['operator', 'Change time limits and priorities of jobs of Slurm clusters.', 'perCluster'],
})

export const slurmPartitionPermissions = definePermissions('slurm:partition', {
  setState: ['admin', 'Open and close partitions of Slurm clusters.', 'perCluster'],
})

export const slurmReservationPermissions = definePermissions('slurm:reservation', {
  write: ['admin', 'Create, change and delete reservations of Slurm clusters.', 'perCluster'],
})

export const slurmActionPermissions = definePermissions('slurm:action', {
  report: ['worker', 'Record the progress of actions on Slurm clusters.'],
  schedule: ['system', 'Enqueue actions of lost workers again, and delete old ones.'],
})

const PERMISSIONS: Record<SlurmVerb, Permission> = {
  DRAIN_NODES: slurmNodePermissions.drain,
  RESUME_NODES: slurmNodePermissions.resume,
  UNDRAIN_NODES: slurmNodePermissions.resume,
  DOWN_NODES: slurmNodePermissions.down,
  POWER_UP_NODES: slurmNodePermissions.power,
  POWER_DOWN_NODES: slurmNodePermissions.power,
  REBOOT_NODES: slurmNodePermissions.reboot,
  UPDATE_NODES: slurmNodePermissions.update,
  HOLD_JOBS: slurmJobPermissions.hold,
  RELEASE_JOBS: slurmJobPermissions.hold,
  CANCEL_JOBS: slurmJobPermissions.cancel,
  REQUEUE_JOBS: slurmJobPermissions.requeue,
  SUSPEND_JOBS: slurmJobPermissions.suspend,
  RESUME_JOBS: slurmJobPermissions.suspend,
  UPDATE_JOBS: slurmJobPermissions.update,
  SET_PARTITION_STATE: slurmPartitionPermissions.setState,
  CREATE_RESERVATION: slurmReservationPermissions.write,
  UPDATE_RESERVATION: slurmReservationPermissions.write,
  DELETE_RESERVATION: slurmReservationPermissions.write,
}

/** The permission of a verb; that of drains for anything that is no verb, which the input's check then refuses. */
export const slurmVerbPermission = (verb: unknown): Permission => PERMISSIONS[verb as SlurmVerb] ?? slurmNodePermissions.drain
