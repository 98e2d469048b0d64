import { SlurmOutputError } from './errors.ts'
import { parseTres, type Tres } from './gres.ts'
import { SEPARATOR } from './parse-jobs.ts'
import { parseCount, parseDuration, parseTime, parseWord } from './text.ts'

/** A job as slurmdbd remembers it. */
export interface SlurmAccountedJob {
  id: number
  /** As sacct shows it: 12, 3_4, 12+1. */
  shownId: string
  /** Slurm's word: COMPLETED, FAILED, CANCELLED, TIMEOUT, NODE_FAIL. */
  state: string
  /** User ID of who canceled the job. */
  canceledBy: number | null
  exitCode: { code: number; signal: number } | null
  user: string | null
  account: string | null
  partition: string | null
  qos: string | null
  nodes: string
  submittedAt: Date | null
  startAt: Date | null
  endAt: Date | null
  elapsedSeconds: number
  tres: Tres
  /** slurmdbd stores a backtick in place of a double quote. */
  name: string | null
}

/** Fields of `sacct --allusers --allocations --noheader --parsable2 --delimiter SEPARATOR --format`; the text of a user comes last. */
export const SACCT_FIELDS = [
  ...['JobIDRaw', 'JobID', 'State', 'ExitCode', 'User', 'Account', 'Partition', 'QOS', 'NodeList'],
  ...['Submit', 'Start', 'End', 'ElapsedRaw', 'AllocTRES', 'JobName'],
]

/**
 * Reads sacct with SACCT_FIELDS; the same for all versions.
 * @param utcOffset minutes that the host's local time is ahead of UTC, for local times
 * @throws SlurmOutputError when a line has too few fields
 */
export function parseAccounting(output: string, { utcOffset = 0 }: { utcOffset?: number } = {}): SlurmAccountedJob[] {
  return output
    .split('\n')
    .filter((line) => line.includes(SEPARATOR))
    .map((line) => {
      const fields = line.split(SEPARATOR)
      if (fields.length < SACCT_FIELDS.length)
        throw new SlurmOutputError(`a line has ${fields.length} fields, not ${SACCT_FIELDS.length}: ${line.slice(0, 80)}`)
      const get = (name: string) => fields[SACCT_FIELDS.indexOf(name)]
      const word = (name: string) => parseWord(get(name))
      const [, state = 'UNKNOWN', canceledBy] = /^(\S+)(?: by (\d+))?/.exec(get('State') ?? '') ?? []
      const [, code, signal] = /^(\d+):(\d+)$/.exec(get('ExitCode') ?? '') ?? []
      const elapsed = parseDuration(get('ElapsedRaw'))
      return {
        id: parseCount(get('JobIDRaw')) ?? 0,
        shownId: get('JobID') ?? '',
        state,
        canceledBy: parseCount(canceledBy),
        exitCode: code === undefined ? null : { code: Number(code), signal: Number(signal) },
        user: word('User'),
        account: word('Account'),
        partition: word('Partition'),
        qos: word('QOS'),
        nodes: get('NodeList') === 'None assigned' ? '' : (word('NodeList') ?? ''),
        submittedAt: parseTime(get('Submit'), utcOffset),
        startAt: parseTime(get('Start'), utcOffset),
        endAt: parseTime(get('End'), utcOffset),
        elapsedSeconds: typeof elapsed === 'number' ? elapsed : 0,
        tres: parseTres(word('AllocTRES')),
        name: fields.slice(SACCT_FIELDS.length - 1).join(SEPARATOR) || null,
      }
    })
}
