import { Command } from 'commander'
import { request } from '../client.ts'
import { graphql } from '../graphql.ts'
import { bareId, nodeIdOf } from '../ids.ts'
import { integer, someOf } from '../options.ts'
import { ago, clock, type Format, outputOption, printRows } from '../output.ts'
import { rowsOf } from '../pages.ts'
import { runsCompare } from './runs/compare.ts'
import { runsFailures } from './runs/failures.ts'
import { runsMatrix } from './runs/matrix.ts'
import { runsShow } from './runs/show.ts'
import { findTemplate } from './template/fields.ts'

const STATUSES = ['PENDING', 'RUNNING', 'CANCELING', 'SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED', 'TIMED_OUT', 'ERROR'] as const
type Options = {
  output: Format
  number: number
  status?: (typeof STATUSES)[number][]
  node?: string
  template?: string
  text?: string
}

const LIST = graphql(`query Runs($filter: JobRunFilter, $first: Int, $after: String) {
  jobRuns(filter: $filter, first: $first, after: $after) {
    edges { node { id templateName status limit hostsTotal hostsOk hostsFailed hostsUnreachable createdByName createdAt durationMs } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const runs = () =>
  new Command('runs')
    .description('the newest runs; `muster runs show RUN` tells more of one')
    .option('--status <status...>', `with any of these: ${STATUSES.join(' ')}`, someOf(...STATUSES))
    .option('--node <name>', 'that had this node')
    .option('--template <name>', 'of this template')
    .option('--text <text>', 'with this in the template, limit, reason or name of who started it')
    .option('-n, --number <n>', 'at most so many', integer, 20)
    .addOption(outputOption())
    .enablePositionalOptions()
    .addCommand(runsShow())
    .addCommand(runsMatrix())
    .addCommand(runsCompare())
    .addCommand(runsFailures())
    .action(async ({ output, number, node, template, ...rest }: Options) => {
      const filter = {
        ...rest,
        ...(node ? { nodeId: await nodeIdOf(node) } : {}),
        ...(template ? { templateId: (await findTemplate(template)).id } : {}),
      }
      printRows(
        await rowsOf(async (page) => (await request(LIST, { filter, ...page })).jobRuns, number),
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
        Object.keys(filter).length > 0
          ? 'No run fits.'
          : 'There is no run yet. Start one with `muster run TEMPLATE --limit all`.',
      )
    })
