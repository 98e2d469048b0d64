import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import type { HostResult as Result } from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { count, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { loader } from '../shared/loaders.ts'
import { HostResult } from './enums.ts'

const { jobRunHosts } = schema

export const JobRunHost = builder.drizzleObject('jobRunHosts', {
  name: 'JobRunHost',
  description: "One host of a run, with Ansible's own figures for it.",
  select: { columns: { jobRunId: true, name: true } },
  fields: (t) => ({
    name: t.exposeString('name', { description: "The node's name when the run was started." }),
    node: t.relation('node', { nullable: true, description: 'The node; null when it was purged since.' }),
    run: t.relation('run', { description: 'The run.' }),
    result: t.expose('result', { type: HostResult, description: 'How the run went on it.' }),
    ok: t.exposeInt('ok', { description: 'Tasks that ended well, changed ones included.' }),
    changed: t.exposeInt('changed', { description: 'Tasks that changed something.' }),
    failed: t.exposeInt('failed', { description: 'Tasks that failed.' }),
    unreachable: t.exposeInt('unreachable', { description: 'How often it could not be reached.' }),
    skipped: t.exposeInt('skipped', { description: 'Tasks that were skipped.' }),
    rescued: t.exposeInt('rescued', { description: 'Tasks that failed and were rescued.' }),
    ignored: t.exposeInt('ignored', { description: 'Tasks whose failure was ignored.' }),
    currentTask: t.exposeString('currentTask', {
      nullable: true,
      description: 'The task it is in, or was in when the run ended.',
    }),
    currentTaskAt: t.expose('currentTaskAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is in that task.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'The message of its first failure.' }),
    failureSignature: t.exposeString('failureSignature', {
      nullable: true,
      description: 'The same for messages that differ at most in numbers, names and the like; null without a message.',
    }),
  }),
})

type Summary = { result: Result; count: number; hostlist: string }

export const HostSummary = builder.objectRef<Summary>('HostSummary').implement({
  description: 'Hosts of a run that have the same result.',
  fields: (t) => ({
    result: t.expose('result', { type: HostResult, description: 'Their result.' }),
    count: t.exposeInt('count', { description: 'How many there are.' }),
    hostlist: t.exposeString('hostlist', { description: 'Their names, folded: `gpu[001-064],login1`.' }),
  }),
})

/** The hosts of a run, grouped by result. */
export const hostSummaries = loader<Summary[]>(async ({ ctx }, runIds) => {
  const rows = await ctx.db
    .select({
      runId: jobRunHosts.jobRunId,
      result: jobRunHosts.result,
      count: count(),
      names: sql<string[]>`array_agg(${jobRunHosts.name})`,
    })
    .from(jobRunHosts)
    .where(isOneOf(jobRunHosts.jobRunId, [...runIds]))
    .groupBy(jobRunHosts.jobRunId, jobRunHosts.result)
    .orderBy(jobRunHosts.result)
  const byRun = new Map<string, Summary[]>()
  for (const { runId, names, ...row } of rows)
    byRun.set(runId, [...(byRun.get(runId) ?? []), { ...row, hostlist: foldHostlist(names) }])
  return byRun
})
