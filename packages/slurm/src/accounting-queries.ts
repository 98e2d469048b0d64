import { SACCT_FIELDS, sacctDelimiter } from './parse-accounting.ts'
import { FINISHED_STATES } from './parse-jobs.ts'
import { SPRIO_FORMAT, SSHARE_FORMAT } from './parse-priority.ts'

/** What is read from the accounting on demand; each is one command. */
export type AccountingQuery =
  | { query: 'finished'; sinceSeconds: number; untilSeconds: number; filter: FinishedFilter }
  | { query: 'job'; jobId: string }
  | { query: 'priority'; jobId: string }
  | { query: 'shares'; user: string; account: string }

/** Empty lists and null: any. */
export type FinishedFilter = {
  users: string[]
  accounts: string[]
  partitions: string[]
  states: string[]
  hostlist: string | null
}

/** Numbers of jobs that sacct accepts: 15, 3_1, 12+1. */
export const JOB_ID = /^\d{1,12}(?:[_+]\d{1,12})?$/
/**
 * Names of accounts and partitions that can be put into a list. No backslash: slurmdbd puts them into its SQL without escaping, where
 * one would end the quotation later.
 */
export const ACCOUNTING_NAME = /^[^\s,|"'`\\\p{Cc}]{1,200}$/u

/** Names of users that can be put into a list; sacct looks up their numbers. Those of a domain are `DOMAIN\alice`. */
export const USER_NAME = /^(?:[^\s,|"'`\\\p{Cc}]{1,100}\\)?[^\s,|"'`\\\p{Cc}]{1,200}$/u

/** An early time: without a start, releases search only the present day. sacct accepts no seconds below a million. */
const EARLIEST_SECONDS = 1_000_000

/**
 * The arguments of a query, alike for all versions.
 * @param nonce random, from the caller; a part of it separates the fields of sacct
 * @throws TypeError a value that the command would read as several, or as something else
 */
export function accountingArguments(request: AccountingQuery, nonce: string): string[] {
  switch (request.query) {
    case 'finished': {
      const { sinceSeconds, untilSeconds, filter } = request
      const { users, accounts, partitions, states, hostlist } = filter
      return [
        ...sacct(nonce),
        '--allocations',
        // With states, the times select jobs that ended in between.
        `--state=${list(states.length > 0 ? states : [...FINISHED_STATES])}`,
        `--starttime=${time(sinceSeconds)}`,
        `--endtime=${time(untilSeconds)}`,
        ...(users.length > 0 ? [`--user=${list(users, USER_NAME)}`] : ['--allusers']),
        ...(accounts.length > 0 ? [`--accounts=${list(accounts)}`] : []),
        ...(partitions.length > 0 ? [`--partition=${list(partitions)}`] : []),
        ...(hostlist === null ? [] : [`--nodelist=${hostlist}`]),
      ]
    }
    case 'job':
      return [
        ...sacct(nonce),
        '--allusers',
        '--duplicates',
        `--starttime=${time(EARLIEST_SECONDS)}`,
        `--jobs=${job(request.jobId)}`,
      ]
    case 'priority':
      return ['sprio', '--noheader', `--format=${SPRIO_FORMAT}`, `--jobs=${job(request.jobId)}`]
    case 'shares':
      return [
        ...['sshare', '--parsable2', '--noheader', `--format=${SSHARE_FORMAT}`],
        ...[`--users=${list([request.user], USER_NAME)}`, `--accounts=${list([request.account])}`],
      ]
  }
}

const sacct = (nonce: string): string[] => [
  ...['sacct', '--noheader', '--noconvert', '--parsable', `--delimiter=${sacctDelimiter(nonce)}`],
  `--format=${SACCT_FIELDS.join(',')}`,
]

const time = (seconds: number): string => `uts${Math.max(EARLIEST_SECONDS, Math.trunc(seconds))}`

function list(names: readonly string[], form = ACCOUNTING_NAME): string {
  const wrong = names.find((name) => !form.test(name))
  if (wrong !== undefined) throw new TypeError(`not a name: ${wrong}`)
  return names.join(',')
}

function job(jobId: string): string {
  if (!JOB_ID.test(jobId)) throw new TypeError(`not a job ID: ${jobId}`)
  return jobId
}
