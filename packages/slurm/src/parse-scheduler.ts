import { SlurmOutputError } from './errors.ts'
import { at, readNumber, readTime } from './json.ts'
import { isJson, readJson } from './response.ts'
import { parseCount } from './text.ts'

/** Statistics of slurmctld since `since`. Durations are in microseconds. Means are null before the first cycle or minute. */
export interface SlurmScheduler {
  since: Date | null
  serverThreads: number
  /** Messages that wait to be sent to nodes, and to slurmdbd. */
  agentQueue: number
  dbdAgentQueue: number
  jobs: {
    submitted: number
    started: number
    completed: number
    canceled: number
    failed: number
    pending: number
    running: number
  }
  main: { lastCycle: number; maxCycle: number; meanCycle: number | null; cyclesPerMinute: number | null; queueLength: number }
  backfill: {
    lastCycle: number
    maxCycle: number
    meanCycle: number | null
    queueLength: number
    lastCycleAt: Date | null
    jobs: number
  }
}

/**
 * Reads `sdiag`, whose text all versions print, or the JSON of slurmrestd. That of v0.0.39 and v0.0.40 lacks `bf_cycle_max`.
 * @throws SlurmOutputError a count that the text of all versions has is missing
 */
export function parseScheduler(output: string): SlurmScheduler {
  if (isJson(output)) return fromJson(output)
  const [head = '', rest = ''] = split(output, 'Main schedule statistics')
  const [main = '', backfill = ''] = split(rest, 'Backfilling stats')
  return {
    since: epoch(head, 'Data since'),
    serverThreads: count(head, 'Server thread count'),
    agentQueue: count(head, 'Agent queue size'),
    dbdAgentQueue: count(head, 'DBD Agent queue size'),
    jobs: {
      submitted: count(head, 'Jobs submitted'),
      started: count(head, 'Jobs started'),
      completed: count(head, 'Jobs completed'),
      canceled: count(head, 'Jobs canceled'),
      failed: count(head, 'Jobs failed'),
      pending: count(head, 'Jobs pending'),
      running: count(head, 'Jobs running'),
    },
    main: {
      lastCycle: count(main, 'Last cycle'),
      maxCycle: count(main, 'Max cycle'),
      meanCycle: mean(main, 'Mean cycle'),
      cyclesPerMinute: mean(main, 'Cycles per minute'),
      queueLength: count(main, 'Last queue length'),
    },
    backfill: {
      lastCycle: count(backfill, 'Last cycle'),
      maxCycle: count(backfill, 'Max cycle'),
      meanCycle: mean(backfill, 'Mean cycle'),
      queueLength: count(backfill, 'Last queue length'),
      lastCycleAt: epoch(backfill, 'Last cycle when'),
      jobs: count(backfill, 'Total backfilled jobs (since last slurm start)'),
    },
  }
}

function fromJson(output: string): SlurmScheduler {
  const statistics = at(readJson(output), 'statistics')
  const count = (key: string): number => {
    const found = readNumber(statistics[key])
    if (found === null) throw new SlurmOutputError(`the JSON has no "${key}"`)
    return found
  }
  // As in the text of sdiag, which prints means only when there is something to divide by.
  const hasMinute = count('req_time') - count('req_time_start') > 60
  return {
    since: readTime(statistics.req_time_start),
    serverThreads: count('server_thread_count'),
    agentQueue: count('agent_queue_size'),
    dbdAgentQueue: count('dbd_agent_queue_size'),
    jobs: {
      submitted: count('jobs_submitted'),
      started: count('jobs_started'),
      completed: count('jobs_completed'),
      canceled: count('jobs_canceled'),
      failed: count('jobs_failed'),
      pending: count('jobs_pending'),
      running: count('jobs_running'),
    },
    main: {
      lastCycle: count('schedule_cycle_last'),
      maxCycle: count('schedule_cycle_max'),
      meanCycle: count('schedule_cycle_total') > 0 ? count('schedule_cycle_mean') : null,
      cyclesPerMinute: hasMinute ? count('schedule_cycle_per_minute') : null,
      queueLength: count('schedule_queue_length'),
    },
    backfill: {
      lastCycle: count('bf_cycle_last'),
      maxCycle: count('bf_cycle_max'),
      meanCycle: count('bf_cycle_counter') > 0 ? count('bf_cycle_mean') : null,
      queueLength: count('bf_queue_len'),
      lastCycleAt: readTime(statistics.bf_when_last_cycle),
      jobs: count('bf_backfilled_jobs'),
    },
  }
}

function split(text: string, heading: string): [string, string] {
  const index = text.indexOf(heading)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index)]
}

function value(text: string, label: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.trim().startsWith(label))
  return line?.trim().slice(label.length).replace(/^:/, '').trim()
}

const mean = (text: string, label: string): number | null => parseCount(value(text, `${label}:`))

function count(text: string, label: string): number {
  const found = parseCount(value(text, `${label}:`))
  if (found === null) throw new SlurmOutputError(`the output has no "${label}"`)
  return found
}

/** Times end with the seconds since 1970: `Sun Nov 22 07:48:43 2026 (1795333723)`. */
function epoch(text: string, label: string): Date | null {
  const seconds = /\((\d+)\)$/.exec(value(text, label) ?? '')?.[1]
  return seconds === undefined || seconds === '0' ? null : new Date(Number(seconds) * 1000)
}
