import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { runNotFound } from '../../lookup.ts'
import { ago, clock, isTable, printObject } from '../../output.ts'
import { RUN_HELP, runId } from '../../run-id.ts'

export const runsCompare = () =>
  new Command('compare')
    .description('compare a run with the previous run of its template')
    .argument('<run>', RUN_HELP)
    .withOutput()
    .action(async (idText: string, output: Output) => {
      const { node } = await request(
        graphql(`query RunsCompare($id: ID!) {
          node(id: $id) { __typename ... on JobRun { id compareWithPrevious {
            previous { id status createdAt } newlyFailing fixed stillFailing added missing changedBefore changedNow previousDurationMs durationMs
          } } }
        }`),
        { id: await runId(idText) },
      )
      if (node?.__typename !== 'JobRun') throw runNotFound(idText)
      const compared = node.compareWithPrevious
      if (!isTable(output)) return printObject(compared, output)
      if (!compared) return void process.stderr.write('No previous run of this template.\n')
      printObject(compared, output, [
        ['previous run', `${bareId(compared.previous.id)} ${compared.previous.status} ${ago(compared.previous.createdAt)}`],
        ['newly failing', compared.newlyFailing],
        ['fixed', compared.fixed],
        ['still failing', compared.stillFailing],
        ['changed', `${compared.changedBefore} of the common hosts, now ${compared.changedNow}`],
        ['duration', `${clock(compared.previousDurationMs)}, now ${clock(compared.durationMs)}`],
        ...(compared.added ? [['added', compared.added] as [string, string]] : []),
        ...(compared.missing ? [['missing', compared.missing] as [string, string]] : []),
      ])
    })
