import type { SlurmState } from './plan.ts'
import { PROGRAMS_IN_NODE, slurmPrograms } from './programs.ts'

/** Folder on the lab's tmpfs that both controllers use as StateSaveLocation. */
export const SHARED_STATE = '/run/lab/slurm-state'

export type Mount = { from: string; to: string; type: 'bind' | 'tmpfs' }

/** Nodes have no cgroups. slurmd accepts an empty folder. */
const CGROUPS: Mount = { from: 'tmpfs', to: '/sys/fs/cgroup', type: 'tmpfs' }

/** The mounts of a machine of the cluster, or of a node that may join one, in addition to those of every node. */
export function slurmMounts(state: SlurmState | null, name: string): Mount[] {
  if (!state) return [CGROUPS]
  return [
    { from: slurmPrograms, to: PROGRAMS_IN_NODE, type: 'bind' },
    ...(state.prefix && state.folder ? [{ from: state.folder, to: state.prefix, type: 'bind' as const }] : []),
    ...(state.compute.includes(name) ? [CGROUPS] : []),
    ...(state.controllers.length > 1 && state.controllers.includes(name)
      ? [{ from: SHARED_STATE, to: '/var/spool/slurmctld', type: 'bind' as const }]
      : []),
  ]
}
