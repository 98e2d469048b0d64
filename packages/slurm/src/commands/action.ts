import {
  cancelJobs,
  holdJobs,
  type JobChanges,
  releaseJobs,
  requeueJobs,
  resumeJobs,
  suspendJobs,
  updateJobs,
} from './job-commands.ts'
import {
  downNodes,
  drainNodes,
  type NodeChanges,
  powerDownNodes,
  powerUpNodes,
  type RebootOptions,
  rebootNodes,
  resumeNodes,
  undrainNodes,
  updateNodes,
} from './node-commands.ts'
import { type PartitionState, setPartitionState } from './partition-commands.ts'
import {
  createReservation,
  deleteReservation,
  type NewReservation,
  type ReservationChanges,
  updateReservation,
} from './reservation-commands.ts'

export const NODE_VERBS = [
  'DRAIN_NODES',
  'RESUME_NODES',
  'UNDRAIN_NODES',
  'DOWN_NODES',
  'POWER_UP_NODES',
  'POWER_DOWN_NODES',
  'REBOOT_NODES',
  'UPDATE_NODES',
] as const
export const JOB_VERBS = [
  'HOLD_JOBS',
  'RELEASE_JOBS',
  'CANCEL_JOBS',
  'REQUEUE_JOBS',
  'SUSPEND_JOBS',
  'RESUME_JOBS',
  'UPDATE_JOBS',
] as const
export const RESERVATION_VERBS = ['CREATE_RESERVATION', 'UPDATE_RESERVATION', 'DELETE_RESERVATION'] as const
export const SLURM_VERBS = [...NODE_VERBS, ...JOB_VERBS, 'SET_PARTITION_STATE', ...RESERVATION_VERBS] as const
export type SlurmVerb = (typeof SLURM_VERBS)[number]

/**
 * What to do with a list of targets. `reason` is the whole text that Slurm stores.
 * With `keepDrained`, nodes that are already drained keep their reason. With `onlyReason`, only nodes with that reason change.
 */
export type SlurmAction =
  | { verb: 'DRAIN_NODES'; reason: string; keepDrained?: boolean | undefined }
  | { verb: 'DOWN_NODES'; reason: string }
  | { verb: 'RESUME_NODES' | 'UNDRAIN_NODES'; onlyReason?: string | undefined }
  | { verb: 'POWER_UP_NODES' | 'POWER_DOWN_NODES' }
  | ({ verb: 'REBOOT_NODES' } & RebootOptions)
  | ({ verb: 'UPDATE_NODES' } & NodeChanges)
  | { verb: 'HOLD_JOBS' | 'RELEASE_JOBS' | 'REQUEUE_JOBS' | 'SUSPEND_JOBS' | 'RESUME_JOBS' }
  | { verb: 'CANCEL_JOBS'; signal?: string | undefined }
  | ({ verb: 'UPDATE_JOBS' } & JobChanges)
  | { verb: 'SET_PARTITION_STATE'; state: PartitionState }
  | ({ verb: 'CREATE_RESERVATION' } & NewReservation)
  | ({ verb: 'UPDATE_RESERVATION' } & ReservationChanges)
  | { verb: 'DELETE_RESERVATION' }

export type TargetKind = 'node' | 'job' | 'partition' | 'reservation'

export function targetKind(verb: SlurmVerb): TargetKind {
  if (isOneOf(NODE_VERBS, verb)) return 'node'
  if (isOneOf(JOB_VERBS, verb)) return 'job'
  return verb === 'SET_PARTITION_STATE' ? 'partition' : 'reservation'
}

const isOneOf = (list: readonly string[], verb: string): boolean => list.includes(verb)

/** The arguments of the one command for these targets. @throws InvalidSlurmWord */
export function actionArguments(action: SlurmAction, targets: readonly string[]): string[] {
  const [target = ''] = targets
  switch (action.verb) {
    case 'DRAIN_NODES':
      return drainNodes(targets, action.reason)
    case 'DOWN_NODES':
      return downNodes(targets, action.reason)
    case 'RESUME_NODES':
      return resumeNodes(targets)
    case 'UNDRAIN_NODES':
      return undrainNodes(targets)
    case 'POWER_UP_NODES':
      return powerUpNodes(targets)
    case 'POWER_DOWN_NODES':
      return powerDownNodes(targets)
    case 'REBOOT_NODES':
      return rebootNodes(targets, action)
    case 'UPDATE_NODES':
      return updateNodes(targets, action)
    case 'HOLD_JOBS':
      return holdJobs(targets)
    case 'RELEASE_JOBS':
      return releaseJobs(targets)
    case 'REQUEUE_JOBS':
      return requeueJobs(targets)
    case 'SUSPEND_JOBS':
      return suspendJobs(targets)
    case 'RESUME_JOBS':
      return resumeJobs(targets)
    case 'CANCEL_JOBS':
      return cancelJobs(targets, action.signal)
    case 'UPDATE_JOBS':
      return updateJobs(targets, action)
    case 'SET_PARTITION_STATE':
      return setPartitionState(target, action.state)
    case 'CREATE_RESERVATION':
      return createReservation(target, action)
    case 'UPDATE_RESERVATION':
      return updateReservation(target, action)
    case 'DELETE_RESERVATION':
      return deleteReservation(target)
  }
}

/**
 * Whether repeating the command on a target does no harm. A second requeue restarts a job that has just started again, a second reboot
 * reboots the node again, and a program may count signals.
 */
export const isRepeatable = (action: SlurmAction): boolean =>
  !(
    action.verb === 'REQUEUE_JOBS' ||
    action.verb === 'REBOOT_NODES' ||
    (action.verb === 'CANCEL_JOBS' && action.signal !== undefined)
  )

/** Whether the target is gone after the action. */
export const removesTarget = (action: SlurmAction): boolean =>
  action.verb === 'DELETE_RESERVATION' || (action.verb === 'CANCEL_JOBS' && action.signal === undefined)

/** Longest argument: Linux permits 128 KiB. */
const MAX_BYTES = 32_000
const MAX_TARGETS = 500

/** Groups of targets for one command each: alone when the command must not be repeated or takes only one. */
export function commandGroups(action: SlurmAction, targets: readonly string[]): string[][] {
  const kind = targetKind(action.verb)
  const takesMany = (kind === 'node' || kind === 'job') && isRepeatable(action)
  const groups: string[][] = []
  let bytes = 0
  for (const target of targets) {
    const last = groups.at(-1)
    if (takesMany && last && last.length < MAX_TARGETS && bytes + target.length < MAX_BYTES) {
      last.push(target)
      bytes += target.length + 1
    } else {
      groups.push([target])
      bytes = target.length
    }
  }
  return groups
}
