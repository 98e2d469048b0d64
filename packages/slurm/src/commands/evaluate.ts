import { hasReason } from '../node-state.ts'
import { hasEnded, type SlurmJob } from '../parse-jobs.ts'
import type { SlurmNode } from '../parse-nodes.ts'
import type { SlurmPartition } from '../parse-partitions.ts'
import type { SlurmReservation } from '../parse-reservations.ts'
import { type SlurmAction, targetKind } from './action.ts'
import { isJobHeld, jobsOfTarget } from './job-targets.ts'
import type { ReservationChanges } from './reservation-commands.ts'

/** Full lists as a controller reports them. Only the list of the action's kind of target is needed. */
export type SlurmLists = {
  nodes?: readonly SlurmNode[]
  /** One record per array task. */
  jobs?: readonly SlurmJob[]
  partitions?: readonly SlurmPartition[]
  reservations?: readonly SlurmReservation[]
}

/** What a controller reports of one target. `text` shows what the action changes, in Slurm's words. */
export type TargetState = {
  text: string
  /** Whether the action has its effect, by this state alone. */
  isReached: boolean
  /** Differs after a restart of the job or a reboot of the node. */
  epoch: string
}

/** Milliseconds since 1970. In stored reports, which are JSON, times are text. */
const timeOf = (date: Date | null): number | null => (date === null ? null : new Date(date).getTime())
const iso = (date: Date | null): string => (date === null ? '?' : new Date(date).toISOString())

const POWER_OFF = ['POWER_DOWN', 'POWERING_DOWN', 'POWERED_DOWN']
const POWER_ON = ['POWER_UP', 'POWERING_UP']
const REBOOT = ['REBOOT', 'REBOOT_REQUESTED', 'REBOOT_ISSUED']

/**
 * Finds targets in the lists. Results of commands come from here and never from exit codes: many commands return 0 although nothing
 * happened, and 1 although a node changed.
 * @param expand of a hostlist, for the nodes of reservations
 * @returns for a target: its state, or null when the controller does not have it
 */
export function stateFinder(
  action: SlurmAction,
  lists: SlurmLists,
  expand: (hostlist: string) => string[],
): (target: string) => TargetState | null {
  switch (targetKind(action.verb)) {
    case 'node':
      return byName(lists.nodes, (node) => nodeState(action, node))
    case 'partition':
      return byName(lists.partitions, ({ state }) => ({
        text: state,
        isReached: action.verb === 'SET_PARTITION_STATE' && state === action.state,
        epoch: '',
      }))
    case 'reservation':
      return byName(lists.reservations, (reservation) => reservationState(action, reservation, expand))
    case 'job': {
      const find = jobsOfTarget(lists.jobs ?? [])
      return (target) => {
        const jobs = find(target)
        return jobs.length === 0 ? null : jobState(action, jobs)
      }
    }
  }
}

function byName<T extends { name: string }>(list: readonly T[] = [], read: (one: T) => TargetState) {
  const byName = new Map(list.map((one) => [one.name, one]))
  return (target: string) => {
    const one = byName.get(target)
    return one ? read(one) : null
  }
}

function nodeState(action: SlurmAction, node: SlurmNode): TargetState {
  const has = (...flags: string[]) => flags.some((flag) => node.states.includes(flag))
  const words = node.states.join('+') + (node.reason ? `: ${node.reason}` : '')
  const values = `weight ${node.weight}, features ${node.features.join(',') || 'none'}`
  const text = action.verb === 'UPDATE_NODES' ? values : words
  return { text, isReached: isNodeReached(action, node, has), epoch: iso(node.bootAt) }
}

/** Whether somebody else has drained it meanwhile. */
const hasOther = (onlyReason: string | undefined, node: SlurmNode): boolean =>
  onlyReason !== undefined && !hasReason(node, onlyReason)

function isNodeReached(action: SlurmAction, node: SlurmNode, has: (...flags: string[]) => boolean): boolean {
  switch (action.verb) {
    case 'DRAIN_NODES':
      return has('DRAIN') && (hasReason(node, action.reason) || action.keepDrained === true)
    case 'DOWN_NODES':
      return node.states[0] === 'DOWN' && hasReason(node, action.reason)
    case 'RESUME_NODES':
      return !has('DRAIN', 'DOWN', 'FAIL', 'POWER_DOWN') || hasOther(action.onlyReason, node)
    case 'UNDRAIN_NODES':
      return !has('DRAIN') || hasOther(action.onlyReason, node)
    case 'POWER_UP_NODES':
      return has(...POWER_ON) || !has(...POWER_OFF)
    case 'POWER_DOWN_NODES':
      return has(...POWER_OFF)
    case 'REBOOT_NODES':
      return has(...REBOOT)
    case 'UPDATE_NODES':
      return (
        (action.weight === undefined || node.weight === action.weight) &&
        (action.features === undefined || isSameSet(node.features, action.features))
      )
    default:
      return false
  }
}

function jobState(action: SlurmAction, jobs: readonly SlurmJob[]): TargetState {
  const text = [...new Set(jobs.map((job) => describeJob(action, job)))].slice(0, 4).join('; ')
  return { text, isReached: jobs.every((job) => isJobReached(action, job)), epoch: jobs.map(epochOf).join() }
}

function describeJob(action: SlurmAction, { states, reason, timeLimit, priority }: SlurmJob): string {
  const words = states.join('+') + (reason ? `, ${reason}` : '')
  const limit = timeLimit === 'UNLIMITED' ? 'unlimited' : `${timeLimit ?? 'unknown'} min`
  return action.verb === 'UPDATE_JOBS' ? `${words}, time limit ${limit}, priority ${priority ?? 'unknown'}` : words
}

/** A pending job has an expected start, which changes at every cycle of the scheduler. */
const epochOf = ({ id, states, startAt }: SlurmJob): string => (states[0] === 'PENDING' ? `${id}` : `${id}@${iso(startAt)}`)

function isJobReached(action: SlurmAction, job: SlurmJob): boolean {
  switch (action.verb) {
    case 'HOLD_JOBS':
      return isJobHeld(job)
    case 'RELEASE_JOBS':
      return !isJobHeld(job)
    case 'CANCEL_JOBS':
      return action.signal === undefined && (hasEnded(job) || job.states.includes('COMPLETING'))
    case 'REQUEUE_JOBS':
      return job.states[0] === 'PENDING'
    case 'SUSPEND_JOBS':
      return job.states[0] === 'SUSPENDED'
    case 'RESUME_JOBS':
      return job.states[0] !== 'SUSPENDED'
    case 'UPDATE_JOBS':
      return (
        (action.timeLimit === undefined || job.timeLimit === action.timeLimit) &&
        (action.priority === undefined || job.priority === action.priority)
      )
    default:
      return false
  }
}

function reservationState(
  action: SlurmAction,
  reservation: SlurmReservation,
  expand: (hostlist: string) => string[],
): TargetState {
  const { startAt, endAt, nodes, users, accounts, flags } = reservation
  const who = [...users, ...accounts].join(',')
  return {
    text: `${iso(startAt)} to ${iso(endAt)}, nodes ${nodes || 'none'}, for ${who || 'nobody'}${flags.length > 0 ? `, ${flags.join(',')}` : ''}`,
    isReached:
      (action.verb === 'CREATE_RESERVATION' && isReservationAsRequested(reservation, action, expand)) ||
      (action.verb === 'UPDATE_RESERVATION' && isReservationAsRequested(reservation, action, expand)),
    epoch: '',
  }
}

function isReservationAsRequested(
  { startAt, endAt, nodes, users, accounts }: SlurmReservation,
  changes: ReservationChanges,
  expand: (hostlist: string) => string[],
): boolean {
  const [start, end] = [timeOf(startAt), timeOf(endAt)]
  return (
    (changes.startTime === undefined || start === changes.startTime * 1000) &&
    (changes.durationMinutes === undefined ||
      (start !== null && end !== null && Math.round((end - start) / 60_000) === changes.durationMinutes)) &&
    (!changes.nodes || isSameSet(expand(nodes), changes.nodes)) &&
    (!changes.users || isSameSet(users, changes.users)) &&
    (!changes.accounts || isSameSet(accounts, changes.accounts))
  )
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  new Set(some).size === new Set([...some, ...others]).size && new Set(others).size === new Set(some).size
