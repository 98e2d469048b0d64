import type { ActionInput } from './documents.ts'

export type Verb = ActionInput['verb']

/** What an action is about: names of nodes or partitions, or IDs of jobs as squeue shows them. */
export type Targets = { kind: 'nodes' | 'jobs' | 'partitions'; names: string[] }

export const nodeVerbs = [
  'DRAIN_NODES',
  'RESUME_NODES',
  'UNDRAIN_NODES',
  'DOWN_NODES',
  'REBOOT_NODES',
  'POWER_UP_NODES',
  'POWER_DOWN_NODES',
] as const satisfies Verb[]

export const jobVerbs = [
  'HOLD_JOBS',
  'RELEASE_JOBS',
  'SUSPEND_JOBS',
  'RESUME_JOBS',
  'REQUEUE_JOBS',
  'UPDATE_JOBS',
  'CANCEL_JOBS',
] as const satisfies Verb[]

export const partitionVerbs = ['SET_PARTITION_STATE'] as const satisfies Verb[]

/** Actions that end jobs or take capacity away at once. */
export const isDangerous = (verb: Verb): boolean =>
  ['DOWN_NODES', 'REQUEUE_JOBS', 'CANCEL_JOBS', 'POWER_DOWN_NODES'].includes(verb)

/** The part of the input that selects the targets. */
export function selectorOf({ kind, names }: Targets): Pick<ActionInput, 'nodes' | 'jobs' | 'partitions'> {
  if (kind === 'nodes') return { nodes: { hostlist: names.join(',') } }
  if (kind === 'jobs') return { jobs: { ids: names } }
  return { partitions: names }
}
