import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { bareId, noRun, runId } from '../../ids.ts'
import { ago, clock, type Format, outputOption, printObject } from '../../output.ts'

export const runsCompare = () =>
  new Command('compare')
    .description('a run beside the one before it of the same template')
    .argument('<run>', 'id of the run, or `last`')
    .addOption(outputOption())
    .action(async (idText: string, { output }: { output: Format }) => {
      const { node } = await request(
        graphql(`query RunsCompare($id: ID!) {
          node(id: $id) { __typename ... on JobRun { id compareWithPrevious {
            previous { id status createdAt } newlyFailing fixed stillFailing added missing changedBefore changedNow previousDurationMs durationMs
          } } }
        }`),
        { id: await runId(idText) },
      )
      if (node?.__typename !== 'JobRun') throw noRun(idText)
      const compared = node.compareWithPrevious
      if (output !== 'table') return printObject(compared, output)
      if (!compared) return void process.stderr.write('There is no run before it to compare it with.\n')
      printObject(compared, output, [
        ['before', `${bareId(compared.previous.id)} ${compared.previous.status} ${ago(compared.previous.createdAt)}`],
        ['newly failing', compared.newlyFailing],
        ['fixed', compared.fixed],
        ['still failing', compared.stillFailing],
        ['changed', `${compared.changedBefore} of the hosts of both, now ${compared.changedNow}`],
        ['took', `${clock(compared.previousDurationMs)}, now ${clock(compared.durationMs)}`],
        ...(compared.added ? [['added', compared.added] as [string, string]] : []),
        ...(compared.missing ? [['missing', compared.missing] as [string, string]] : []),
      ])
    })
