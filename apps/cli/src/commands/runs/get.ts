import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { runNotFound } from '../../lookup.ts'
import { ago, clock, isTable, printObject, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { RUN_HELP, runId } from '../../run-id.ts'

const RUN = graphql(`query RunsGet($id: ID!, $first: Int, $after: String) {
  node(id: $id) { __typename ... on JobRun {
    id number templateName status statusReason waitingReason limit become becomeMethod becomeUser serial maxFailPercentage jobTags skipTags checkMode
    diffMode forks reason createdBy { name } createdAt startedAt finishedAt durationMs attempt isReadOnly parent { id number } retries { id number status }
    slurm {
      clusterName batchSize floorPercent deadlineSeconds waitsFor drained { count hostlist } pending { count hostlist }
      batches { number phase phaseSince hosts { count hostlist } error run { id number status } }
    }
    batchOf { id number }
    hostCounts { total ok failed unreachable } retryBlockedReason
    waitingFor { run { id number templateName createdBy { name } } hostlist acquiredAt } hostSummary { result count hostlist }
    hosts(first: $first, after: $after) {
      edges { node { name result currentTask currentTaskAt message } } pageInfo { hasNextPage endCursor }
    }
  } }
}`)
type Run = Extract<ResultOf<typeof RUN>['node'], { __typename: 'JobRun' }>

/** Results that the table of hosts omits, because the summary lists their hosts. */
const QUIET = ['OK', 'CHANGED', 'SKIPPED', 'PENDING', 'NOT_RUN']

export const runsGet = () =>
  new Command('get')
    .description('show one run: status, blockers, and the current task of each host')
    .argument('<run>', RUN_HELP)
    .withOutput()
    .action(async (idText: string, output: Output) => {
      const id = await runId(idText)
      const pages: Run[] = []
      const hosts = await fetchAll(async (page) => {
        const { node } = await request(RUN, { id, ...page })
        if (node?.__typename !== 'JobRun') throw runNotFound(idText)
        pages.push(node)
        return node.hosts
      })
      const run = { ...pages[0]!, hosts }
      if (!isTable(output)) return printObject(run, output)
      const batches = [run.serial, run.maxFailPercentage === null ? null : `stops when more than ${run.maxFailPercentage} % fail`]
      const tags = [...run.jobTags, ...run.skipTags.map((tag) => `not ${tag}`)]
      const modes = [run.checkMode && 'check', run.diffMode && 'diff', run.isReadOnly && 'read-only'].filter(Boolean)
      const withValue = (fields: [string, string | number | null | undefined][]) => fields.filter(([, value]) => value)
      printObject(
        run,
        output,
        withValue([
          ['run', `${run.number}  ${bareId(run.id)}`],
          ['template', run.templateName],
          ['status', [run.status, run.statusReason ?? run.waitingReason].filter(Boolean).join(': ')],
          ['limit', run.limit],
          ['become', run.become ? `${run.becomeUser} by ${run.becomeMethod.toLowerCase()}` : null],
          ['batches', batches.filter(Boolean).join(', ')],
          ['tags', tags.join(', ')],
          ['modes', modes.join(', ')],
          ['reason', run.reason],
          ['by', run.createdBy.name],
          ['created', ago(run.createdAt)],
          ['started', ago(run.startedAt)],
          ['duration', clock(run.durationMs)],
          ['attempt', run.attempt > 1 ? `${run.attempt}, of ${run.parent?.number ?? 'a deleted run'}` : null],
          ['retried', run.retries.map((retry) => `${retry.number} ${retry.status}`).join(', ')],
          ...run.waitingFor.map((other): [string, string] => [
            'waits for',
            `${other.hostlist}: ${other.acquiredAt ? 'locked' : 'requested earlier'} by ${other.run.templateName} ${other.run.number} of ${other.run.createdBy.name}`,
          ]),
          ['batch of', run.batchOf && `run ${run.batchOf.number}`],
          ...(run.slurm ? slurmFields(run.slurm) : []),
          ...run.hostSummary.map((s): [string, string] => [s.result.toLowerCase(), `${s.count}  ${s.hostlist}`]),
        ]),
      )
      const notable = run.hosts.filter((host) => !QUIET.includes(host.result))
      if (notable.length === 0) return
      process.stdout.write('\n')
      printRows(
        notable,
        [
          { title: 'HOST', value: (h) => h.name },
          { title: 'RESULT', value: (h) => h.result },
          { title: 'TASK', value: (h) => h.currentTask },
          { title: 'SINCE', value: (h) => ago(h.currentTaskAt) },
          { title: 'MESSAGE', value: (h) => h.message, wide: true },
        ],
        output,
      )
      if (run.retryBlockedReason === null) process.stderr.write(`\nRetry these hosts: \`muster retry ${run.number}\`\n`)
    })

const slurmFields = (slurm: NonNullable<Run['slurm']>): [string, string | null][] => [
  ['cluster', `${slurm.clusterName}, ${slurm.batchSize} at a time, ${slurm.floorPercent} % of each partition stays in service`],
  ...slurm.batches.map(({ number, hosts, phase, phaseSince, run, error }): [string, string] => [
    `batch ${number}`,
    [`${phase}  ${hosts.hostlist}`, `since ${ago(phaseSince)}`, run && `run ${run.number} ${run.status}`, error]
      .filter(Boolean)
      .join(', '),
  ]),
  ['waits for', slurm.waitsFor],
  ['left', slurm.pending.hostlist],
  ['drained', slurm.drained.hostlist],
]
