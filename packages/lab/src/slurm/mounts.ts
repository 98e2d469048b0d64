import type { SlurmState } from './plan.ts'
import { PROGRAMS_IN_NODE, slurmPrograms } from './programs.ts'

/** Folder on the lab's tmpfs that both controllers use as StateSaveLocation. */
export const SHARED_STATE = '/run/lab/slurm-state'

export type Mount = { from: string; to: string; type: 'bind' | 'tmpfs' }

/** The mounts of a machine of the cluster, in addition to those of every node. */
export function slurmMounts(state: SlurmState, name: string): Mount[] {
  return [
    { from: slurmPrograms, to: PROGRAMS_IN_NODE, type: 'bind' },
    ...(state.prefix && state.folder ? [{ from: state.folder, to: state.prefix, type: 'bind' as const }] : []),
    ...(state.compute.includes(name) ? [{ from: 'tmpfs', to: '/sys/fs/cgroup', type: 'tmpfs' as const }] : []),
    ...(state.controllers.length > 1 && state.controllers.includes(name)
      ? [{ from: SHARED_STATE, to: '/var/spool/slurmctld', type: 'bind' as const }]
      : []),
  ]
}
