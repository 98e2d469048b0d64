import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
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
          node(id: $id) { __typename ... on JobRun { id durationMs compareWithPrevious {
            previous { id number status createdAt durationMs } newlyFailing { count hostlist } fixed { count hostlist } stillFailing { count hostlist }
            added { count hostlist } missing { count hostlist } changedBefore changedNow
          } } }
        }`),
        { id: await runId(idText) },
      )
      if (node?.__typename !== 'JobRun') throw runNotFound(idText)
      const compared = node.compareWithPrevious
      if (!isTable(output)) return printObject(compared, output)
      if (!compared) return void process.stderr.write('No previous run of this template.\n')
      printObject(compared, output, [
        ['previous run', `${compared.previous.number} ${compared.previous.status} ${ago(compared.previous.createdAt)}`],
        ['newly failing', compared.newlyFailing.hostlist],
        ['fixed', compared.fixed.hostlist],
        ['still failing', compared.stillFailing.hostlist],
        ['changed', `${compared.changedBefore} of the common hosts, now ${compared.changedNow}`],
        ['duration', `${clock(compared.previous.durationMs)}, now ${clock(node.durationMs)}`],
        ...(compared.added.count ? [['added', compared.added.hostlist] as [string, string]] : []),
        ...(compared.missing.count ? [['missing', compared.missing.hostlist] as [string, string]] : []),
      ])
    })
