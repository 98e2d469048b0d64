import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import type { HostResult as Result } from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { count, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { HostResult } from './enums.ts'

const { jobRunHosts } = schema

export const JobRunHost = builder.drizzleObject('jobRunHosts', {
  name: 'JobRunHost',
  description: 'One host of a run with its counts from the recap of Ansible.',
  select: { columns: { jobRunId: true, name: true } },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the node when the run was started.' }),
    node: t.relation('node', { nullable: true, description: 'The node; null when it was purged.' }),
    run: t.relation('run', { description: 'The run.' }),
    result: t.expose('result', { type: HostResult, description: 'Result of the run on the host.' }),
    ok: t.exposeInt('ok', { description: 'Number of tasks that succeeded, including those that changed something.' }),
    changed: t.exposeInt('changed', { description: 'Number of tasks that changed something.' }),
    failed: t.exposeInt('failed', { description: 'Number of tasks that failed.' }),
    unreachable: t.exposeInt('unreachable', { description: 'Number of tasks for which the host was unreachable.' }),
    skipped: t.exposeInt('skipped', { description: 'Number of tasks that were skipped.' }),
    rescued: t.exposeInt('rescued', { description: 'Number of tasks that failed and were rescued.' }),
    ignored: t.exposeInt('ignored', { description: 'Number of tasks whose failure was ignored.' }),
    currentTask: t.exposeString('currentTask', {
      nullable: true,
      description: 'Name of the task that is running, or was running when the run ended; null when none is.',
    }),
    currentTaskAt: t.expose('currentTaskAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the current task started; null without a current task.',
    }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'Message of the first failure, or why the host was skipped; null when neither.',
    }),
    failureSignature: t.exposeString('failureSignature', {
      nullable: true,
      description: 'Hash that is equal for messages that differ only in numbers, paths and host names; null without a message.',
    }),
  }),
})

export const hostConnection = connectionTypes(JobRunHost, 'JobRunHost', 'hosts of a run')

type Counts = { hostsTotal: number; hostsOk: number; hostsFailed: number; hostsUnreachable: number; hostsOffline: number }

export const JobRunHostCounts = builder.objectRef<Counts>('JobRunHostCounts').implement({
  description: 'Number of hosts of a run. Hosts that are not finished count only in the total.',
  fields: (t) => ({
    total: t.exposeInt('hostsTotal', { description: 'Number of all hosts.' }),
    ok: t.exposeInt('hostsOk', { description: 'Number of hosts that succeeded.' }),
    failed: t.exposeInt('hostsFailed', { description: 'Number of hosts that failed.' }),
    unreachable: t.exposeInt('hostsUnreachable', { description: 'Number of hosts that were unreachable.' }),
    offline: t.exposeInt('hostsOffline', {
      description: 'Number of hosts that the run skipped, because their agents were OFFLINE.',
    }),
  }),
})

export const HostSet = builder.objectRef<readonly string[]>('HostSet').implement({
  description: 'A set of hosts.',
  fields: (t) => ({
    count: t.int({ description: 'Number of hosts.', resolve: (names) => names.length }),
    hostlist: t.string({
      description: 'Hostlist of the hosts: `gpu[001-064],login1`; empty without hosts.',
      resolve: (names) => foldHostlist([...names]),
    }),
  }),
})

type Summary = { result: Result; count: number; hostlist: string }

export const HostSummary = builder.objectRef<Summary>('HostSummary').implement({
  description: 'Hosts of a run with the same result.',
  fields: (t) => ({
    result: t.expose('result', { type: HostResult, description: 'The result.' }),
    count: t.exposeInt('count', { description: 'Number of hosts.' }),
    hostlist: t.exposeString('hostlist', { description: 'Hostlist of the hosts: `gpu[001-064],login1`.' }),
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
