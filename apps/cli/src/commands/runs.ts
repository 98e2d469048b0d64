import { Command } from 'commander'
import { request } from '../client.ts'
import { graphql } from '../graphql.ts'
import { bareId } from '../ids.ts'
import { integer } from '../options.ts'
import { ago, clock, type Format, outputOption, printRows } from '../output.ts'
import { runsCompare } from './runs/compare.ts'
import { runsFailures } from './runs/failures.ts'
import { runsMatrix } from './runs/matrix.ts'
import { runsShow } from './runs/show.ts'

export const runs = () =>
  new Command('runs')
    .description('the newest runs; `muster runs show RUN` tells more of one')
    .option('-n, --number <n>', 'how many, at most 500', integer, 20)
    .addOption(outputOption())
    .enablePositionalOptions()
    .addCommand(runsShow())
    .addCommand(runsMatrix())
    .addCommand(runsCompare())
    .addCommand(runsFailures())
    .action(async ({ output, number }: { output: Format; number: number }) => {
      const { jobRuns } = await request(
        graphql(`query Runs($first: Int) {
          jobRuns(first: $first) { edges { node { id templateName status limit hostsTotal hostsOk hostsFailed hostsUnreachable createdByName createdAt durationMs } } }
        }`),
        { first: number },
      )
      printRows(
        jobRuns.edges.map((e) => e.node),
        [
          { title: 'RUN', value: (r) => bareId(r.id) },
          { title: 'TEMPLATE', value: (r) => r.templateName },
          { title: 'STATUS', value: (r) => r.status },
          { title: 'OK', value: (r) => `${r.hostsOk}/${r.hostsTotal}` },
          { title: 'TOOK', value: (r) => clock(r.durationMs) },
          { title: 'FAILED', value: (r) => r.hostsFailed + r.hostsUnreachable, spare: true },
          { title: 'STARTED', value: (r) => ago(r.createdAt), spare: true },
          { title: 'BY', value: (r) => r.createdByName, spare: true },
        ],
        output,
        'There is no run yet. Start one with `muster run TEMPLATE --limit all`.',
      )
    })
