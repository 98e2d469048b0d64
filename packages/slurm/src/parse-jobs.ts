import { SlurmOutputError } from './errors.ts'
import { type Gres, parseTres, type Tres, totalGres } from './gres.ts'
import { at, isObject, type JsonObject, type Limit, readLimit, readList, readNumber, readText, readTime } from './json.ts'
import { isJson, readJsonList } from './response.ts'
import { parseCount, parseMinutes, parseTime, parseWord, parseWords } from './text.ts'

/** A job, array task, pending part of an array, or component of a heterogeneous job, as slurmctld reports it. */
export interface SlurmJob {
  /** Number of this record. The pending part of an array has the number of the array. */
  id: number
  arrayJobId: number | null
  arrayTaskId: number | null
  /** Pending tasks and their throttle, `2-9%2`. */
  arrayTasks: string | null
  hetJobId: number | null
  hetJobOffset: number | null
  name: string | null
  user: string | null
  account: string | null
  /** One partition, or several separated by commas while pending. */
  partition: string
  qos: string | null
  /** Slurm's words, the base state first: ["RUNNING"], ["PENDING", "REQUEUED"]. */
  states: string[]
  /** Slurm's word for why the job does not run or has ended: Resources, JobHeldAdmin, NonZeroExitCode; null for None. */
  reason: string | null
  /** Reason with details, such as `ReqNodeNotAvail, UnavailableNodes:gpu02`. */
  reasonDetail: string | null
  priority: number | null
  submittedAt: Date | null
  /** Start, or the expected start of a pending job. */
  startAt: Date | null
  /** End, or the expected end by the time limit; null when there is no limit. */
  endAt: Date | null
  /** Minutes. */
  timeLimit: Limit | null
  /** Hostlist of the allocated nodes; empty while pending. */
  nodes: string
  nodeCount: number
  cpus: number
  /** Of the whole job: allocated, or requested while pending. */
  gres: Gres[]
  /** Allocated, or requested while pending. Has only the GRES that the site tracks (AccountingStorageTRES). */
  tres: Tres
  /** Requested, as Slurm prints them: `matlab:2,ansys@server:1`. */
  licenses: string | null
  dependency: string | null
  reservation: string | null
  comment: string | null
  workingDirectory: string | null
  exitCode: { code: number; signal: number } | null
}

/** States after which a job does not change any more. */
export const FINISHED_STATES = [
  'BOOT_FAIL',
  'CANCELLED',
  'COMPLETED',
  'DEADLINE',
  'FAILED',
  'NODE_FAIL',
  'OUT_OF_MEMORY',
  'PREEMPTED',
  'TIMEOUT',
] as const
const ENDED = new Set<string>(FINISHED_STATES)

export const hasEnded = ({ states }: Pick<SlurmJob, 'states'>): boolean => ENDED.has(states[0] ?? '')

/** squeue prints one word, a flag instead of the base state. COMPLETING has several base states. */
const BASE_OF_FLAG: Record<string, string> = {
  ...{ CONFIGURING: 'RUNNING', RESIZING: 'RUNNING', SIGNALING: 'RUNNING', STOPPED: 'RUNNING' },
  ...{ REQUEUED: 'PENDING', REQUEUE_FED: 'PENDING', REQUEUE_HOLD: 'PENDING', SPECIAL_EXIT: 'PENDING' },
}

/** ASCII unit separator. Users can put it into a job's name, so the texts that they write come last. */
export const SEPARATOR = '\x1f'

/**
 * Fields of `squeue --Format`, which all versions print alike except for the exit code. The JSON of a job has 5 to 9 KB, mostly fields
 * that nobody reads, and this 0.3 KB. Users can write any text into the last four.
 */
export const SQUEUE_FIELDS = [
  ...['jobid', 'arrayjobid', 'arraytaskid', 'jobarrayid', 'username', 'partition', 'qos', 'state', 'prioritylong', 'submittime'],
  ...['starttime', 'endtime', 'timelimit', 'nodelist', 'numcpus', 'numnodes', 'numtasks', 'tres-alloc', 'tres-per-job'],
  ...['tres-per-node', 'tres-per-task', 'licenses', 'exit_code', 'reservation', 'dependency', 'reason', 'reasonlist'],
  ...['account', 'workdir', 'comment', 'name'],
] as const

/** Each field without a limit of its width and with a separator after it; the nonce ends the record. */
export const squeueFormat = (nonce: string): string => SQUEUE_FIELDS.map((field) => `${field}:0${SEPARATOR}`).join(',') + nonce

/**
 * Reads jobs from `squeue --all --json` (21.08 and later) or `squeue --noheader --all --Format` with `squeueFormat` (all versions).
 * Filters belong to the caller: squeue 22.05 ignores them with --json.
 * @param utcOffset minutes that the controller's local time is ahead of UTC, for text with local times
 * @param nonce random text at the end of each record: names and comments of jobs may contain newlines and separators
 * @throws SlurmOutputError when the JSON is incomplete or reports errors, or a record of the text is cut off or has too few fields
 */
export function parseJobs(output: string, { utcOffset = 0, nonce }: { utcOffset?: number; nonce: string }): SlurmJob[] {
  return createJobParser(utcOffset)(output, nonce)
}

export type JobParser = (output: string, nonce: string) => SlurmJob[]

/**
 * Returns a `parseJobs` that keeps the jobs of its last output: of thousands of jobs, few change between two refreshes, and the text of
 * the others is the same. These jobs are the same objects as before.
 */
export function createJobParser(utcOffset = 0): JobParser {
  let last = new Map<string, SlurmJob>()
  return (output, nonce) => {
    if (isJson(output)) return readJsonList(output, 'jobs').map(fromJson)
    const current = new Map<string, SlurmJob>()
    const records = output.split(`${SEPARATOR}${nonce}\n`)
    const rest = records.pop()!
    if (rest.trim() !== '') throw new SlurmOutputError(`a record was cut off: ${rest.slice(0, 80)}`)
    const resources: ResourceCache = new Map()
    for (const record of records) current.set(record, last.get(record) ?? fromRecord(record, utcOffset, resources))
    last = current
    return records.map((record) => current.get(record)!)
  }
}

function fromJson(job: JsonObject): SlurmJob {
  const states = readList(job.job_state).map((state) => state.toUpperCase())
  // Slurm 22.05 prints null for "no limit" and for "limit of the partition", which a pending job may still get.
  const timeLimit = readLimit(job.time_limit) ?? (job.time_limit === null && states[0] !== 'PENDING' ? 'UNLIMITED' : null)
  const reason = readText(job.state_reason)
  const arrayJobId = readNumber(job.array_job_id) || null
  const hetJobId = readNumber(job.het_job_id) || null
  const nodeCount = readNumber(job.node_count) ?? 0
  const tres = parseTres(readText(job.tres_alloc_str) ?? readText(job.tres_req_str))
  return {
    id: readNumber(job.job_id) ?? 0,
    arrayJobId,
    arrayTaskId: arrayJobId && readNumber(job.array_task_id),
    arrayTasks: readText(job.array_task_string),
    hetJobId,
    hetJobOffset: hetJobId && readNumber(job.het_job_offset),
    name: readText(job.name),
    user: readText(job.user_name) ?? readNumber(job.user_id)?.toString() ?? null,
    account: readText(job.account),
    partition: readText(job.partition) ?? '',
    qos: readText(job.qos),
    states,
    reason: reason === 'None' ? null : reason,
    reasonDetail: readText(job.state_description),
    priority: readNumber(job.priority),
    submittedAt: readTime(job.submit_time),
    startAt: readTime(job.start_time),
    endAt: endTime(readTime(job.end_time), timeLimit, states),
    timeLimit,
    nodes: readText(job.nodes) ?? '',
    nodeCount,
    cpus: readNumber(job.cpus) ?? 0,
    gres: totalGres(tres, [
      [readText(job.tres_per_job), 1],
      [readText(job.tres_per_node), nodeCount],
      [readText(job.tres_per_task), readNumber(job.tasks) ?? 1],
    ]),
    tres,
    licenses: readText(job.licenses),
    dependency: readText(job.dependency),
    reservation: readText(job.resv_name),
    comment: readText(job.comment),
    workingDirectory: readText(job.current_working_directory),
    exitCode: ENDED.has(states[0] ?? '') ? readExitCode(job.exit_code) : null,
  }
}

/** slurmctld reports one year after the start, or the year 2162, as the end of a job without a time limit. */
function endTime(end: Date | null, timeLimit: Limit | null, states: string[]): Date | null {
  return timeLimit === 'UNLIMITED' && !ENDED.has(states[0] ?? '') ? null : end
}

/** Reads a wait status (to 22.05) or {return_code, signal} (from 23.02). */
function readExitCode(value: unknown): SlurmJob['exitCode'] {
  if (isObject(value))
    return {
      code: readNumber(value.return_code) ?? 0,
      signal: readNumber(at(value, 'signal').id) ?? readNumber(at(value, 'signal').signal_id) ?? 0,
    }
  const status = readNumber(value)
  return status === null ? null : fromWaitStatus(status)
}

const fromWaitStatus = (status: number) => ({ code: (status >> 8) & 0xff, signal: status & 0x7f })

/** Reads a wait status (to 23.02) or `code:signal` (later), as squeue prints it. */
function parseExitCode(value: string | undefined): SlurmJob['exitCode'] {
  const [code, signal] = (value ?? '').split(':').map(parseCount)
  if (code === null || code === undefined) return null
  return signal === undefined ? fromWaitStatus(code) : { code, signal: signal ?? 0 }
}

type Resources = Pick<SlurmJob, 'tres' | 'gres'>
/** Resources by their fields: thousands of jobs, such as the tasks of an array, have the same. */
type ResourceCache = Map<string, Resources>

/** @param fields numtasks, tres-alloc, tres-per-job, tres-per-node, tres-per-task */
function readResources(nodeCount: number, fields: string[]): Resources {
  const [tasks, alloc, perJob, perNode, perTask] = fields.map(parseWord)
  const tres = parseTres(alloc ?? null)
  const requested = [
    [perJob ?? null, 1],
    [perNode ?? null, nodeCount],
    [perTask ?? null, Number(tasks ?? 1)],
  ] as const
  return { tres, gres: totalGres(tres, requested) }
}

function fromRecord(line: string, utcOffset: number, cache: ResourceCache): SlurmJob {
  const fields = line.split(SEPARATOR)
  if (fields.length < SQUEUE_FIELDS.length)
    throw new SlurmOutputError(`a record has ${fields.length} fields, not ${SQUEUE_FIELDS.length}: ${line.slice(0, 80)}`)
  const [job, array, task, shown, user, partition, qos, state, priority, submit, start, end, limit, nodes, cpus, count] = fields
  const [licenses, exit, reservation, dependency, reason, detail, account, directory, comment] = fields.slice(21)
  // A wrapper of squeue may print lines before the first record.
  const id = parseCount(job?.slice(job.lastIndexOf('\n') + 1)) ?? 0
  const nodeCount = parseCount(count) ?? 0
  const resourceFields = fields.slice(15, 21)
  const key = resourceFields.join(SEPARATOR)
  const resources = cache.get(key) ?? readResources(nodeCount, resourceFields.slice(1))
  cache.set(key, resources)
  const states = parseWords(state?.toUpperCase()).flatMap((word) => [BASE_OF_FLAG[word] ?? [], word].flat())
  const arrayTask = parseWord(task)
  const het = /^(\d+)\+(\d+)$/.exec(shown ?? '')
  const timeLimit = parseMinutes(limit)
  const word = parseWord(reason)
  // Details follow a comma or colon: `ReqNodeNotAvail, UnavailableNodes:gpu02`.
  const [reasonWord] = word?.split(/[,:]/) ?? []
  return {
    id,
    arrayJobId: arrayTask === null ? null : parseCount(array),
    arrayTaskId: parseCount(arrayTask ?? undefined),
    arrayTasks: arrayTask !== null && parseCount(arrayTask) === null ? arrayTask : null,
    hetJobId: het ? Number(het[1]) : null,
    hetJobOffset: het ? Number(het[2]) : null,
    name: fields.slice(SQUEUE_FIELDS.length - 1).join(SEPARATOR) || null,
    user: parseWord(user),
    account: parseWord(account),
    partition: partition ?? '',
    qos: parseWord(qos),
    states,
    reason: reasonWord?.replaceAll(' ', '_') ?? null,
    reasonDetail: states[0] === 'PENDING' ? (parseWord(detail)?.replace(/^\((.*)\)$/, '$1') ?? null) : word,
    priority: parseCount(priority),
    submittedAt: parseTime(submit, utcOffset),
    startAt: parseTime(start, utcOffset),
    endAt: endTime(parseTime(end, utcOffset), timeLimit, states),
    timeLimit,
    nodes: parseWord(nodes) ?? '',
    nodeCount,
    cpus: parseCount(cpus) ?? 0,
    ...resources,
    licenses: parseWord(licenses),
    dependency: parseWord(dependency),
    reservation: parseWord(reservation),
    comment: parseWord(comment),
    workingDirectory: parseWord(directory),
    exitCode: ENDED.has(states[0] ?? '') ? parseExitCode(exit) : null,
  }
}
