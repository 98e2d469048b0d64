import { parseTres, type Tres } from './gres.ts'
import { parseCount, parseTime, parseWord, parseWords, readRecords, type TextRecord } from './text.ts'

/** A reservation as slurmctld reports it. */
export interface SlurmReservation {
  name: string
  startAt: Date | null
  endAt: Date | null
  /** Hostlist. */
  nodes: string
  nodeCount: number
  partition: string | null
  /** Slurm's words, such as MAINT and IGNORE_JOBS. */
  flags: string[]
  users: string[]
  accounts: string[]
  tres: Tres
  comment: string | null
}

/**
 * Reads `scontrol show reservations --oneliner`. Its --json, from 23.02, lacks the comment.
 * @param utcOffset minutes that the controller's local time is ahead of UTC, for local times
 */
export const parseReservations = (output: string, { utcOffset = 0 }: { utcOffset?: number } = {}): SlurmReservation[] =>
  readRecords(output, 'ReservationName', {
    required: ['StartTime', 'EndTime', 'Nodes'],
    freeText: ['Comment'],
    empty: 'No reservations in the system',
  }).map((record) => fromText(record, utcOffset))

function fromText(reservation: TextRecord, utcOffset: number): SlurmReservation {
  return {
    name: reservation.get('ReservationName')!,
    startAt: parseTime(reservation.get('StartTime'), utcOffset),
    endAt: parseTime(reservation.get('EndTime'), utcOffset),
    nodes: parseWord(reservation.get('Nodes')) ?? '',
    nodeCount: parseCount(reservation.get('NodeCnt')) ?? 0,
    partition: parseWord(reservation.get('PartitionName')),
    flags: parseWords(reservation.get('Flags')),
    users: parseWords(reservation.get('Users')),
    accounts: parseWords(reservation.get('Accounts')),
    tres: parseTres(parseWord(reservation.get('TRES'))),
    comment: parseWord(reservation.get('Comment')),
  }
}
