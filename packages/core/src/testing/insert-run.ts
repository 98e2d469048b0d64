import { and, eq, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { actorColumns, type Ctx, createdBy } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import {
  type EndCause,
  type HostResult,
  type JobRun,
  type JobRunEventKind,
  type JobRunStatus,
  jobRunEvents,
  jobRunHosts,
  jobRuns,
} from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import { insertMany } from './insert-many.ts'

export type RunOptions = {
  status: JobRunStatus
  template?: string
  /** Hosts of the run, in inventory order. */
  nodes?: { id: string; name: string }[]
  /** Lines of its log. */
  lines?: number
  /** Seconds since it was created. */
  age?: number
  columns?: Partial<typeof jobRuns.$inferInsert>
}

type Host = Partial<typeof jobRunHosts.$inferInsert> & { result: HostResult }
type End = { endCause: EndCause | null; exitCode: number | null; error: string | null }

/** How runs of each status end, and the results of their hosts in turn. */
const OUTCOMES: Record<JobRunStatus, { end?: End; hosts: Host[] }> = {
  PENDING: { hosts: [{ result: 'PENDING' }] },
  RUNNING: {
    hosts: [
      { result: 'OK', ok: 3 },
      { result: 'RUNNING', ok: 2, currentTask: 'Read accelerators' },
    ],
  },
  CANCELING: {
    hosts: [
      { result: 'OK', ok: 3 },
      { result: 'RUNNING', ok: 1, currentTask: 'Read accelerators' },
    ],
  },
  SUCCEEDED: {
    end: exit(0),
    hosts: [
      { result: 'OK', ok: 5 },
      { result: 'CHANGED', ok: 5, changed: 2 },
    ],
  },
  PARTIAL: {
    end: exit(2),
    hosts: [
      { result: 'OK', ok: 5 },
      { result: 'CHANGED', ok: 5, changed: 2 },
      { result: 'FAILED', ok: 1, failed: 1, message: 'nvidia-smi: Failed to initialize NVML: Driver/library version mismatch' },
      { result: 'UNREACHABLE', unreachable: 1, message: 'ssh: connect to host 10.1.0.3 port 22: Connection timed out' },
      { result: 'OK', ok: 5, skipped: 2 },
      { result: 'NOT_RUN' },
    ],
  },
  FAILED: { end: exit(2), hosts: [{ result: 'FAILED', failed: 1, message: 'The disk is full.' }] },
  CANCELED: {
    end: { endCause: 'cancel', exitCode: 143, error: null },
    hosts: [
      { result: 'OK', ok: 5 },
      { result: 'INTERRUPTED', ok: 1, currentTask: 'Read accelerators' },
    ],
  },
  TIMED_OUT: {
    end: { endCause: 'timeout', exitCode: 143, error: 'The run took longer than its timeout of 900 s.' },
    hosts: [{ result: 'OK', ok: 5 }, { result: 'NOT_RUN' }],
  },
  ERROR: {
    end: { endCause: 'lost', exitCode: null, error: 'The worker stopped responding.' },
    hosts: [{ result: 'NOT_RUN' }],
  },
}

function exit(exitCode: number): End {
  return { endCause: 'exit', exitCode, error: null }
}

/** A run in the given status with its hosts and log, as rows. A run that has started has the claim token that is returned. */
export async function insertRun(ctx: Ctx, options: RunOptions): Promise<JobRun & { claimToken: string | null }> {
  const [run] = await insertRuns(ctx, [options])
  return run!
}

/** Many runs in one statement; only those with nodes or lines have hosts and events. Later ones are newer. */
export async function insertRuns(ctx: Ctx, all: RunOptions[]): Promise<JobRun[]> {
  const templates = await ctx.db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, ctx.tenantId))
  const events: (typeof jobRunEvents.$inferInsert)[] = []
  const hosts: (typeof jobRunHosts.$inferInsert)[] = []
  const [tenant] = await ctx.db
    .update(tenants)
    .set({ lastRunNumber: sql`${tenants.lastRunNumber} + ${all.length}` })
    .where(eq(tenants.id, ctx.tenantId))
    .returning({ last: tenants.lastRunNumber })
  const runs = all.map(({ status, template: name = 'collect_facts', nodes = [], lines = 0, age = 60, columns = {} }, i) => {
    const template = templates.find((each) => each.name === name)
    if (!template) throw new Error(`There is no template ${name}.`)
    const { end, hosts: outcomes } = OUTCOMES[status]
    const results = nodes.map(({ id, name }, i) => ({ ...outcomes[i % outcomes.length]!, nodeId: id, name }))
    const id = newId()
    const log = ansibleEvents(id, results, lines)
    events.push(...log)
    hosts.push(...results.map((host) => ({ ...host, jobRunId: id })))
    const createdAt = new Date(Date.now() - age * 1000)
    const startedAt = status === 'PENDING' ? null : new Date(createdAt.getTime() + 1000)
    const count = (...wanted: HostResult[]) => results.filter(({ result }) => wanted.includes(result)).length
    return {
      id,
      tenantId: ctx.tenantId,
      number: tenant!.last - all.length + 1 + i,
      templateId: template.id,
      templateName: name,
      playbookPath: template.playbookPath,
      become: template.become,
      becomeMethod: template.becomeMethod,
      becomeUser: template.becomeUser,
      timeoutSeconds: template.timeoutSeconds,
      forks: template.forks,
      isReadOnly: template.isReadOnly,
      isIdempotent: template.isIdempotent,
      ...createdBy(ctx),
      createdAt,
      startedAt,
      ansibleStartedAt: startedAt,
      finishedAt: end ? new Date(createdAt.getTime() + 42_000) : null,
      cancelRequestedAt: status === 'CANCELING' || status === 'CANCELED' ? startedAt : null,
      ...(status === 'CANCELING' || status === 'CANCELED' ? actorColumns(ctx, 'cancelRequested') : {}),
      ...(end ?? { endCause: null, exitCode: null, error: null }),
      interruptedHosts: results.filter(({ result }) => result === 'INTERRUPTED').map(({ name }) => name),
      claimToken: startedAt ? crypto.randomUUID() : null,
      claimedBy: startedAt ? 'worker-1' : null,
      workerSeenAt: new Date(),
      lastSeq: log.length,
      lastLine: log.reduce((sum, { lineCount }) => sum + lineCount!, 0),
      hostsTotal: results.length,
      hostsOk: count('OK', 'CHANGED', 'SKIPPED'),
      hostsFailed: count('FAILED'),
      hostsUnreachable: count('UNREACHABLE'),
      ...columns,
    }
  })
  await insertMany(ctx.db, jobRuns, runs)
  await insertMany(ctx.db, jobRunHosts, hosts)
  await insertMany(ctx.db, jobRunEvents, events)
  const first = and(eq(jobRuns.tenantId, ctx.tenantId), eq(jobRuns.id, runs[0]!.id))
  if (runs.length === 1) return ctx.db.select().from(jobRuns).where(first)
  const byId = new Map(
    (await ctx.db.select().from(jobRuns).where(eq(jobRuns.tenantId, ctx.tenantId))).map((run) => [run.id, run]),
  )
  return runs.map(({ id }) => byId.get(id)!)
}

const TASKS = ['Gathering Facts', 'Read accelerators', 'Check drivers', 'Write facts']
const COLORS: Partial<Record<HostResult, [code: number, kind: JobRunEventKind | 'changed', word: string]>> = {
  CHANGED: [33, 'changed', 'changed'],
  FAILED: [31, 'failed', 'fatal'],
  UNREACHABLE: [31, 'unreachable', 'fatal'],
  SKIPPED: [36, 'skipped', 'skipping'],
}

/** Events of a log with `lines` lines: a header for each task, then one line per host that names its own number. */
function ansibleEvents(
  jobRunId: string,
  hosts: (Host & { name?: string })[],
  lines: number,
): (typeof jobRunEvents.$inferInsert)[] {
  const events: (typeof jobRunEvents.$inferInsert)[] = []
  const createdAt = new Date()
  const targets = hosts.length > 0 ? hosts : [{ name: 'gpu001', result: 'OK' as const }]
  for (let line = 1, round = 0; line <= lines; round++) {
    const task = TASKS[round % TASKS.length]!
    const base = { jobRunId, host: null as string | null, play: 'all', task, action: 'setup', createdAt }
    const add = (event: {
      kind: JobRunEventKind | 'changed'
      stdout: string
      lineCount: number
      host?: string
      result?: unknown
    }) => {
      const isChanged = event.kind === 'changed'
      const kind = event.kind === 'changed' ? 'ok' : event.kind
      const row = { result: null, durationMs: 31, ...base, ...event, kind, isChanged }
      events.push({ ...row, seq: events.length + 1, startLine: line })
      line += event.lineCount
    }
    if (line < lines) add({ kind: 'task_start', stdout: `\nTASK [${task}] ${'*'.repeat(70 - task.length)}`, lineCount: 2 })
    for (const { name, result } of targets) {
      if (line > lines) break
      const [code, kind, word] = COLORS[result] ?? ([32, 'ok', 'ok'] as const)
      const stdout = `\u001b[0;${code}m${word}: [${name}] => ${logLine(line)}\u001b[0m`
      add({ kind, stdout, lineCount: 1, host: name!, result: { changed: kind === 'changed', msg: logLine(line) } })
    }
  }
  return events
}

/** Text of line `number` in the log of an inserted run; not valid for header lines. */
export const logLine = (number: number): string => `line ${number} of the log`
