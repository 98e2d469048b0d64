import type { ClusterPage } from '../cluster-documents.ts'
import type { ActionInput } from './documents.ts'

export type Verb = ActionInput['verb']

/** Names of nodes or partitions, or IDs of jobs as squeue shows them. */
export type NamedTargets = { kind: 'nodes' | 'jobs' | 'partitions'; names: string[] }
/** Nodes or jobs that meet conditions, which the form asks for. */
export type MatchedTargets = {
  kind: 'nodes' | 'jobs'
  /** Choices of the conditions. */
  partitions: readonly string[]
  states: readonly string[]
  /** Values of the conditions when the form opens; empty for any. */
  partition: string
  state: string
}
export type Reservation = ClusterPage['reservations'][number]
/** What an action is about. A reservation is null when it is to be created. */
export type Targets = NamedTargets | MatchedTargets | { kind: 'reservations'; reservation: Reservation | null }

const nodeVerbs = [
  'DRAIN_NODES',
  'RESUME_NODES',
  'UNDRAIN_NODES',
  'DOWN_NODES',
  'REBOOT_NODES',
  'POWER_UP_NODES',
  'POWER_DOWN_NODES',
  'UPDATE_NODES',
] as const satisfies Verb[]

const jobVerbs = [
  'HOLD_JOBS',
  'RELEASE_JOBS',
  'SUSPEND_JOBS',
  'RESUME_JOBS',
  'REQUEUE_JOBS',
  'UPDATE_JOBS',
  'CANCEL_JOBS',
] as const satisfies Verb[]

/** The verbs on existing targets, in the order of menus. */
export const verbsOf: Record<Targets['kind'], readonly Verb[]> = {
  nodes: nodeVerbs,
  jobs: jobVerbs,
  partitions: ['SET_PARTITION_STATE'],
  reservations: ['UPDATE_RESERVATION', 'DELETE_RESERVATION'],
}

/** Actions that end jobs or take capacity away at once. */
export const isDangerous = (verb: Verb): boolean =>
  ['DOWN_NODES', 'REQUEUE_JOBS', 'CANCEL_JOBS', 'POWER_DOWN_NODES', 'DELETE_RESERVATION'].includes(verb)

/** The part of the input that selects the targets, when the form opens. */
export function selectorOf(targets: Targets): Pick<ActionInput, 'nodes' | 'jobs' | 'partitions' | 'reservation'> {
  if (targets.kind === 'reservations') return { reservation: { name: targets.reservation?.name ?? '' } }
  if ('names' in targets) {
    const { kind, names } = targets
    if (kind === 'partitions') return { partitions: names }
    return kind === 'nodes' ? { nodes: { hostlist: names.join(',') } } : { jobs: { ids: names } }
  }
  const { kind, partition, state } = targets
  return { [kind]: { partition: partition || null, states: state ? [state] : null } }
}
