import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { bareId, noRun, runId } from '../../ids.ts'
import { ago, clock, type Format, outputOption, printObject, printRows } from '../../output.ts'

/** Hosts that a table does not repeat: the hostlists in the head say all there is to say of them. */
const QUIET = ['OK', 'CHANGED', 'SKIPPED', 'PENDING', 'NOT_RUN']

export const runsShow = () =>
  new Command('show')
    .alias('get')
    .description('one run: how it stands, what it waits for, and in which task each host is')
    .argument('<run>', 'id of the run, or `last`')
    .addOption(outputOption())
    .action(async (idText: string, { output }: { output: Format }) => {
      const { node: run } = await request(
        graphql(`query RunsShow($id: ID!) {
          node(id: $id) { __typename ... on JobRun {
            id templateName status statusReason waitingReason limit become becomeMethod becomeUser serial maxFailPercentage jobTags skipTags checkMode
            diffMode forks reason createdByName createdAt startedAt finishedAt durationMs attempt isReadOnly parent { id } retries { id status }
            hostsTotal retryBlockedReason
            waitingFor { run { id templateName } ownerName hostlist acquiredAt } hostSummary { result count hostlist }
            hosts { name result currentTask currentTaskAt message }
          } }
        }`),
        { id: await runId(idText) },
      )
      if (run?.__typename !== 'JobRun') throw noRun(idText)
      if (output !== 'table') return printObject(run, output)
      const batches = [run.serial, run.maxFailPercentage === null ? null : `until more than ${run.maxFailPercentage} % fail`]
      const tags = [...run.jobTags, ...run.skipTags.map((tag) => `not ${tag}`)]
      const modes = [run.checkMode && 'check', run.diffMode && 'diff', run.isReadOnly && 'read-only'].filter(Boolean)
      const shown = (fields: [string, string | number | null | undefined][]) => fields.filter(([, value]) => value)
      printObject(
        run,
        output,
        shown([
          ['run', bareId(run.id)],
          ['template', run.templateName],
          ['status', [run.status, run.statusReason ?? run.waitingReason].filter(Boolean).join(': ')],
          ['where', run.limit],
          ['become', run.become ? `${run.becomeUser} by ${run.becomeMethod.toLowerCase()}` : null],
          ['batches', batches.filter(Boolean).join(', ')],
          ['tags', tags.join(', ')],
          ['modes', modes.join(', ')],
          ['reason', run.reason],
          ['by', run.createdByName],
          ['asked for', ago(run.createdAt)],
          ['started', ago(run.startedAt)],
          ['took', clock(run.durationMs)],
          ['attempt', run.attempt > 1 ? `${run.attempt}, of ${run.parent ? bareId(run.parent.id) : 'a run that is gone'}` : null],
          ['retried', run.retries.map((retry) => `${bareId(retry.id)} ${retry.status}`).join(', ')],
          ...run.waitingFor.map((other): [string, string] => [
            'waits for',
            `${other.hostlist}: ${other.acquiredAt ? 'locked' : 'wanted before'} by ${other.run.templateName} ${bareId(other.run.id)} of ${other.ownerName}`,
          ]),
          ...run.hostSummary.map((s): [string, string] => [s.result.toLowerCase(), `${s.count}  ${s.hostlist}`]),
        ]),
      )
      const telling = run.hosts.filter((host) => !QUIET.includes(host.result))
      if (telling.length === 0) return
      process.stdout.write('\n')
      printRows(
        telling,
        [
          { title: 'HOST', value: (h) => h.name },
          { title: 'RESULT', value: (h) => h.result },
          { title: 'IN TASK', value: (h) => h.currentTask },
          { title: 'SINCE', value: (h) => ago(h.currentTaskAt) },
          { title: 'MESSAGE', value: (h) => h.message, spare: true },
        ],
        output,
      )
      if (run.retryBlockedReason === null) process.stderr.write(`\nTry it again there: \`muster retry ${bareId(run.id)}\`\n`)
    })
