import { checkedCount, checkedList, checkedWord, InvalidSlurmWord } from './words.ts'

/** Flags that Muster sets: MAINT (for maintenance), IGNORE_JOBS (running jobs may overlap), FLEX (jobs may use more than it). */
export const RESERVATION_FLAGS = ['MAINT', 'IGNORE_JOBS', 'FLEX'] as const
export type ReservationFlag = (typeof RESERVATION_FLAGS)[number]

export type ReservationChanges = {
  /** Seconds since 1970. */
  startTime?: number | undefined
  durationMinutes?: number | undefined
  nodes?: readonly string[] | undefined
  users?: readonly string[] | undefined
  accounts?: readonly string[] | undefined
}
export type NewReservation = ReservationChanges & {
  durationMinutes: number
  nodes: readonly string[]
  flags: readonly ReservationFlag[]
}

function changesOf({ startTime, durationMinutes, nodes, users, accounts }: ReservationChanges): string[] {
  return [
    // Other forms than `uts` are in the local time of the controller.
    ...(startTime === undefined ? [] : [`starttime=uts${checkedCount('start', startTime, 9_999_999_999)}`]),
    ...(durationMinutes === undefined ? [] : [`duration=${checkedCount('duration', durationMinutes, 5_256_000)}`]),
    ...(nodes ? [`nodes=${checkedList('node', nodes)}`] : []),
    ...(users ? [`users=${checkedList('user', users)}`] : []),
    ...(accounts ? [`accounts=${checkedList('user', accounts)}`] : []),
  ]
}

/** Starts at once without `startTime`. Slurm requires users or accounts. */
export const createReservation = (name: string, { flags, ...changes }: NewReservation): string[] => [
  'scontrol',
  'create',
  'reservation',
  `reservationname=${checkedWord('reservation', name)}`,
  ...(changes.startTime === undefined ? ['starttime=now'] : []),
  ...changesOf(changes),
  ...(flags.length === 0 ? [] : [`flags=${flags.join(',')}`]),
]

export function updateReservation(name: string, changes: ReservationChanges): string[] {
  const list = changesOf(changes)
  if (list.length === 0) throw new InvalidSlurmWord('needs a change')
  return ['scontrol', 'update', `reservationname=${checkedWord('reservation', name)}`, ...list]
}

export const deleteReservation = (name: string): string[] => [
  'scontrol',
  'delete',
  `reservationname=${checkedWord('reservation', name)}`,
]
