import { randomBytes } from 'node:crypto'
import type { QueryReport } from '@muster/core/clusters'
import {
  type AccountingQuery,
  accountingArguments,
  isComplete,
  outputAfter,
  queryArguments,
  queryScript,
  SlurmOutputError,
  type SlurmQuery,
} from '@muster/slurm'
import type { ExecResult, Session } from '../ssh/exec.ts'

/** Commands wait for a silent controller for 10 s (MessageTimeout), some of them three times. */
export const QUERY_TIMEOUT_MS = 40_000
/** 10,000 nodes have about 15 MB of JSON, 100,000 jobs 20 MB of text. */
export const MAX_BYTES = 128 * 1024 * 1024
const MAX_DETAIL = 1000

export type QueryContext = {
  session: Session
  programFolder: string | null
  /** Null before the query `version`. */
  version: string | null
  signal: AbortSignal
  /** Deadline of each command. */
  timeoutMs: number
  onReport: (report: QueryReport) => void
}

/** A query without a usable answer. The message is for the operator. */
export class QueryFailure extends Error {
  /** What happened and the next step, without the command. */
  readonly detail: string
  constructor(message: string, detail = message) {
    super(message)
    this.detail = detail
  }
}
/** A query with more output than its caller accepts. */
export class OutputTooLarge extends QueryFailure {}

/**
 * Runs one query and parses its output. Reports the command with its outcome either way.
 * @param describe what the result says in a few words, for the report
 * @throws QueryFailure the command failed or its output cannot be read; SshFailure the connection was lost
 */
export function runQuery<T>(
  context: QueryContext,
  query: SlurmQuery,
  parse: (output: string, nonce: string) => T,
  describe: (result: T) => string,
): Promise<T> {
  return runArguments(context, { query, argumentsOf: (nonce) => queryArguments(query, context.version, nonce) }, parse, describe)
}

/** Runs a query of the accounting like `runQuery`. @throws OutputTooLarge also */
export function runAccountingQuery<T>(
  context: Omit<QueryContext, 'version'>,
  request: AccountingQuery,
  parse: (output: string, nonce: string) => T,
  maxBytes: number,
): Promise<T> {
  const argumentsOf = (nonce: string) => accountingArguments(request, nonce)
  return runArguments(context, { query: request.query, argumentsOf, maxBytes }, parse, () => '')
}

type Query = { query: QueryReport['query']; argumentsOf: (nonce: string) => string[]; maxBytes?: number }

async function runArguments<T>(
  { session, programFolder, signal, timeoutMs, onReport }: Omit<QueryContext, 'version'>,
  { query, argumentsOf, maxBytes = MAX_BYTES }: Query,
  parse: (output: string, nonce: string) => T,
  describe: (result: T) => string,
): Promise<T> {
  const nonce = randomBytes(16).toString('hex')
  const argv = argumentsOf(nonce)
  const shown = (word: string) =>
    word
      .replace(nonce, '')
      .replace(nonce.slice(0, 8), '')
      .replace(/[\x1f]+/g, '|')
  const command = argv.map(shown).join(' ')
  const startedAt = performance.now()
  const ran = await session.exec('sh -s', {
    stdin: queryScript(argv, nonce, programFolder),
    timeoutMs,
    maxBytes,
    signal,
  })
  const report = { query, command, exitCode: ran.code, durationMs: Math.round(performance.now() - startedAt) }
  const fail = (detail: string, hint: string | null): never => {
    onReport({ ...report, state: 'FAILED', detail, hint })
    const reason = `${detail.replace(/\.?$/, '.')}${hint ? ` ${hint}` : ''}`
    const Failure = ran.truncated ? OutputTooLarge : QueryFailure
    throw new Failure(`\`${command}\` failed: ${reason}`, `${argv[0]} failed: ${reason}`)
  }
  const stdout = ran.stdout.toString('utf8')
  const output = outputAfter(nonce, stdout)
  const problem = problemOf(ran, output, query, timeoutMs, maxBytes) ?? (isComplete(nonce, stdout) ? null : CUT_OFF)
  if (problem) return fail(problem.detail, problem.hint)
  let result: T
  try {
    result = parse(output!, nonce)
  } catch (error) {
    if (!(error instanceof SlurmOutputError)) throw error
    return fail(error.message, 'Run the command on the host. The release may print a form that Muster does not know.')
  }
  onReport({ ...report, state: 'OK', detail: describe(result), hint: null })
  return result
}

const CUT_OFF = { detail: 'the output was cut off', hint: null }

/** `scontrol ping` exits with 1 when the primary controller is down, and prints who answers. */
const MAY_FAIL = new Set<QueryReport['query']>(['controllers'])

/** Queries of sacct. */
const ASKS_DATABASE = new Set<QueryReport['query']>(['finished', 'job'])
const DATABASE_SILENT = 'slurmdbd does not answer. Run `systemctl status slurmdbd` on its host.'
const CONTROLLER_HANGS = 'The controller hangs. Check the slurmctld log.'

function problemOf(
  ran: ExecResult,
  output: string | null,
  query: QueryReport['query'],
  timeoutMs: number,
  maxBytes: number,
): { detail: string; hint: string | null } | null {
  const text = ran.stderr.toString('utf8').trim() || (output ?? '').trim()
  const detail = text.slice(0, MAX_DETAIL)
  if (ran.timedOut)
    return {
      detail: `no answer within ${timeoutMs / 1000} s`,
      hint: ASKS_DATABASE.has(query) ? DATABASE_SILENT : CONTROLLER_HANGS,
    }
  if (ran.truncated) return { detail: `the output has more than ${maxBytes / 1024 / 1024} MiB`, hint: null }
  if (output === null)
    return { detail: detail || 'the shell ran no command', hint: 'The account needs a shell that runs `sh -s`.' }
  if (ran.code === 127)
    return { detail: detail || 'command not found', hint: "Set the folder of Slurm's programs, for example /opt/slurm/bin." }
  if (ran.code === 0 || MAY_FAIL.has(query)) return null
  return { detail: detail || `exit code ${ran.code ?? ran.signal}`, hint: hintFor(text) }
}

function hintFor(text: string): string | null {
  if (/Problem talking to the database|persist_conn|PersistInit/i.test(text)) return DATABASE_SILENT
  if (/Invalid user id/i.test(text)) return 'The host of the controller does not know this user.'
  if (/supported priority plugin/i.test(text))
    return 'Only clusters with PriorityType=priority/multifactor have priority factors.'
  if (/Unable to contact slurm controller|Connection refused|Connection timed out/i.test(text))
    return 'slurmctld does not run, or its port cannot be reached. Run `systemctl status slurmctld` on the controller.'
  if (/Socket timed out/i.test(text))
    return 'slurmctld accepts connections and does not answer: it hangs or is overloaded. Check the load of the controller and the log of slurmctld there (SlurmctldLogFile).'
  // slurmctld closes a connection without a word when it cannot authenticate the message.
  if (/Zero Bytes/i.test(text))
    return 'slurmctld closed the connection. Check that the munge key is equal on all hosts and the clocks differ by less than 5 minutes; the log of slurmctld has the reason.'
  if (/configuration file|slurm\.conf/i.test(text)) return 'Correct slurm.conf on this host; its last change made it unreadable.'
  if (/munge|Authentication|Invalid authentication credential|Protocol authentication/i.test(text))
    return 'Check munge: the key must be equal on all hosts, and the clocks within 5 minutes.'
  if (/permission|denied/i.test(text)) return 'The account lacks the right. Use one that may read the cluster.'
  return null
}
