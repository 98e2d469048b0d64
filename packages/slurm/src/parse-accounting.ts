import { SlurmOutputError } from './errors.ts'
import { parseTres, type Tres } from './gres.ts'
import type { Limit } from './json.ts'
import { parseCount, parseTime, parseWord } from './text.ts'

/** A job, array task, or component of a heterogeneous job, as the accounting database recorded it. */
export interface SlurmJobRecord {
  /** Number of the job. Array tasks and components have numbers of their own. */
  id: number
  /** As squeue and sacct show it: 15, 3_1, 12+1. */
  jobId: string
  name: string | null
  user: string | null
  account: string | null
  partition: string
  qos: string | null
  /** Slurm's word: COMPLETED, CANCELLED. */
  state: string
  /** Number of the user who canceled it; null when nobody did. */
  canceledBy: number | null
  /** Slurm's word for why it waited or ended; null for None. */
  reason: string | null
  exitCode: ExitCode | null
  /** Highest exit code of its steps. */
  derivedExitCode: ExitCode | null
  submittedAt: Date | null
  startAt: Date | null
  endAt: Date | null
  /** Run time without suspensions. */
  elapsedSeconds: number
  /** Minutes; null for the limit of the partition. */
  timeLimit: Limit | null
  priority: number | null
  /** Hostlist; empty for a job that never started. */
  nodes: string
  nodeCount: number
  /** Allocated; requested for a job that never started. */
  cpus: number
  requestedTres: Tres
  tres: Tres
  /** CPU time that the steps used, user and system; null when it was not measured. */
  cpuSeconds: number | null
  /** Memory of the step that used most, all its tasks together; null when it was not measured. */
  memoryBytes: number | null
  reservation: string | null
  workingDirectory: string | null
  /** Only where AccountingStoreFlags has job_comment. */
  comment: string | null
  steps: SlurmJobStep[]
}

/** What ran inside an allocation: the batch script, `extern`, or a call of srun. */
export interface SlurmJobStep {
  /** batch, extern, interactive, 0, 1. */
  stepId: string
  name: string | null
  state: string
  exitCode: ExitCode | null
  startAt: Date | null
  endAt: Date | null
  elapsedSeconds: number
  nodes: string
  nodeCount: number
  tasks: number | null
  cpus: number
  tres: Tres
  cpuSeconds: number | null
  /** Largest memory of one task, and the node on which it ran; null when it was not measured. */
  maxTaskMemoryBytes: number | null
  maxTaskMemoryNode: string | null
  /** Sum of the largest memory of each task. */
  memoryBytes: number | null
}

type ExitCode = { code: number; signal: number }

/** Fields that sacct 20.11 to 26.05 have. Texts that users write come last, for people who read the command. */
export const SACCT_FIELDS = [
  ...['JobIDRaw', 'JobID', 'User', 'Account', 'Partition', 'QOS', 'State', 'ExitCode', 'DerivedExitCode', 'Reason'],
  ...['Submit', 'Start', 'End', 'ElapsedRaw', 'TimelimitRaw', 'Priority', 'NodeList', 'NNodes', 'AllocCPUS', 'ReqCPUS'],
  ...['ReqTRES', 'AllocTRES', 'TotalCPU', 'MaxRSS', 'MaxRSSNode', 'TRESUsageInTot', 'NTasks', 'Reservation'],
  ...['WorkDir', 'Comment', 'JobName'],
] as const
type Field = (typeof SACCT_FIELDS)[number]
type Fields = Record<Field, string>

/** What separates fields: nobody can write it into the name of a job before the command runs. */
export const sacctDelimiter = (nonce: string): string => `\x1f${nonce.slice(0, 8)}`

/**
 * Reads `sacct --parsable --noheader --noconvert --delimiter=DELIMITER --format=FIELDS`, which all versions print alike. sacct prints a
 * backtick for each quote in a text.
 * @param nonce of `accountingArguments`
 * @param utcOffset minutes that the controller's local time is ahead of UTC, for text with local times
 * @returns jobs in the order of the output, each with its steps. A job that was requeued has one record for each start
 * @throws SlurmOutputError a record has too few fields, or a step has no job
 */
export function parseJobRecords(output: string, nonce: string, utcOffset = 0): SlurmJobRecord[] {
  const values = output.split(sacctDelimiter(nonce))
  const rest = values.pop()
  if (rest?.trim() || values.length % SACCT_FIELDS.length !== 0)
    throw new SlurmOutputError(`a record has too few fields: ${(rest?.trim() || values.at(-1) || '').slice(0, 80)}`)
  const jobs: SlurmJobRecord[] = []
  for (let at = 0; at < values.length; at += SACCT_FIELDS.length) {
    const fields = Object.fromEntries(SACCT_FIELDS.map((name, i) => [name, values[at + i]])) as Fields
    // A newline ends the record before.
    const [jobId = '', step] = splitOnce(fields.JobID, '.')
    fields.JobIDRaw = fields.JobIDRaw.trimStart()
    if (step === null) {
      jobs.push(toJob(fields, utcOffset))
      continue
    }
    // Steps follow their job.
    const job = jobs.at(-1)
    if (job?.jobId !== jobId) throw new SlurmOutputError(`the step ${fields.JobID.slice(0, 80)} follows another job`)
    job.steps.push(toStep(step, fields, utcOffset))
  }
  for (const job of jobs) addUse(job)
  return jobs
}

function toJob(fields: Fields, utcOffset: number): SlurmJobRecord {
  const id = parseCount(fields.JobIDRaw)
  if (id === null) throw new SlurmOutputError(`a record has no job ID: ${fields.JobIDRaw.slice(0, 80)}`)
  const nodes = nodesOf(fields)
  const { state, canceledBy } = stateOf(fields)
  return {
    id,
    jobId: fields.JobID,
    name: fields.JobName || null,
    user: parseWord(fields.User),
    account: parseWord(fields.Account),
    partition: parseWord(fields.Partition) ?? '',
    qos: parseWord(fields.QOS),
    state,
    canceledBy,
    reason: parseWord(fields.Reason),
    exitCode: exitCodeOf(fields.ExitCode),
    derivedExitCode: exitCodeOf(fields.DerivedExitCode),
    submittedAt: parseTime(fields.Submit, utcOffset),
    startAt: parseTime(fields.Start, utcOffset),
    endAt: parseTime(fields.End, utcOffset),
    elapsedSeconds: parseCount(fields.ElapsedRaw) ?? 0,
    timeLimit: fields.TimelimitRaw === 'UNLIMITED' ? 'UNLIMITED' : parseCount(fields.TimelimitRaw),
    priority: parseCount(fields.Priority),
    nodes,
    nodeCount: parseCount(fields.NNodes) ?? 0,
    // Releases print 0 or 1 allocated CPUs for a job that never started.
    cpus: (nodes && parseCount(fields.AllocCPUS)) || (parseCount(fields.ReqCPUS) ?? 0),
    requestedTres: parseTres(parseWord(fields.ReqTRES)),
    tres: parseTres(parseWord(fields.AllocTRES)),
    cpuSeconds: parseCpuTime(fields.TotalCPU),
    memoryBytes: null,
    reservation: parseWord(fields.Reservation),
    workingDirectory: parseWord(fields.WorkDir),
    comment: fields.Comment || null,
    steps: [],
  }
}

const toStep = (stepId: string, fields: Fields, utcOffset: number): SlurmJobStep => ({
  stepId,
  name: fields.JobName || null,
  state: stateOf(fields).state,
  exitCode: exitCodeOf(fields.ExitCode),
  startAt: parseTime(fields.Start, utcOffset),
  endAt: parseTime(fields.End, utcOffset),
  elapsedSeconds: parseCount(fields.ElapsedRaw) ?? 0,
  nodes: nodesOf(fields),
  nodeCount: parseCount(fields.NNodes) ?? 0,
  tasks: parseCount(fields.NTasks),
  cpus: parseCount(fields.AllocCPUS) ?? 0,
  tres: parseTres(parseWord(fields.AllocTRES)),
  cpuSeconds: parseCpuTime(fields.TotalCPU),
  maxTaskMemoryBytes: parseBytes(fields.MaxRSS),
  maxTaskMemoryNode: parseWord(fields.MaxRSSNode),
  memoryBytes: parseBytes(/(?:^|,)mem=([^,]*)/.exec(fields.TRESUsageInTot)?.[1]),
})

/** A job without measured steps, for example with JobAcctGatherType=none, has an unknown CPU time, not 0 seconds. */
function addUse(job: SlurmJobRecord): void {
  const memory = job.steps.flatMap(({ memoryBytes, maxTaskMemoryBytes }) => memoryBytes ?? maxTaskMemoryBytes ?? [])
  job.memoryBytes = memory.length > 0 ? Math.max(...memory) : null
  if (job.memoryBytes !== null || job.cpuSeconds) return
  job.cpuSeconds = null
  for (const step of job.steps) step.cpuSeconds = null
}

/**
 * CPU time that a job used, as a part of the CPU time that it had; null when it was not measured, or the job had none. Above 1 when its
 * processes used more CPUs than it has, which cgroups prevent.
 */
export const cpuEfficiency = ({ cpuSeconds, cpus, elapsedSeconds }: SlurmJobRecord): number | null =>
  cpuSeconds === null || cpus === 0 || elapsedSeconds === 0 ? null : cpuSeconds / (cpus * elapsedSeconds)

/** Memory that a job had, in bytes; null when its allocation is not limited. */
export const allocatedMemoryBytes = ({ tres }: Pick<SlurmJobRecord, 'tres'>): number | null =>
  tres.mem ? tres.mem * 1024 ** 2 : null

/** `CANCELLED by 1000`; releases add a plus sign where a column is too narrow. */
function stateOf({ State }: Fields): { state: string; canceledBy: number | null } {
  const [, state = '', by] = /^(\S+?)\+?(?: by (\d+))?$/.exec(State.trim()) ?? []
  if (!state) throw new SlurmOutputError(`a record has no state: ${State.slice(0, 80)}`)
  return { state: state.toUpperCase(), canceledBy: by === undefined ? null : Number(by) }
}

/** Exit code and signal, `0:15`. */
function exitCodeOf(text: string): ExitCode | null {
  const match = /^(\d+):(\d+)$/.exec(text)
  return match && { code: Number(match[1]), signal: Number(match[2]) }
}

const nodesOf = ({ NodeList }: Fields): string => (NodeList === 'None assigned' ? '' : (parseWord(NodeList) ?? ''))

/** Reads `[days-][hours:]minutes:seconds[.milliseconds]` as seconds. */
export function parseCpuTime(text: string): number | null {
  const match = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(text)
  if (!match) return null
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number]
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
}

const BYTES: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4, P: 1024 ** 5 }

/** Reads `92160K`, `1.50G` or, with --noconvert in later releases, `94371840` as bytes. */
function parseBytes(text: string | undefined): number | null {
  const match = /^(\d+(?:\.\d+)?)([KMGTP]?)$/.exec(text?.trim() ?? '')
  return match ? Math.round(Number(match[1]) * BYTES[match[2]!]!) : null
}

function splitOnce(text: string, separator: string): [string, string | null] {
  const index = text.indexOf(separator)
  return index < 0 ? [text, null] : [text.slice(0, index), text.slice(index + separator.length)]
}
