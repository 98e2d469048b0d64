import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { integer, pointInTime, someOf } from '../../options.ts'
import { ago, clock, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { findTemplate } from '../templates/fields.ts'

const STATUSES = ['PENDING', 'RUNNING', 'CANCELING', 'SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELED', 'TIMED_OUT', 'ERROR'] as const
type Options = Output & {
  number: number
  status?: (typeof STATUSES)[number][]
  node?: string
  template?: string
  text?: string
  since?: string
  until?: string
}

const LIST = graphql(`query Runs($filter: JobRunFilter, $first: Int, $after: String) {
  jobRuns(filter: $filter, first: $first, after: $after) {
    edges { node { id number templateName status limit hostCounts { total ok failed unreachable } createdBy { name } createdAt durationMs } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const runsList = () =>
  new Command('list')
    .description('list runs, newest first')
    .option('--status <status...>', `runs with any of these statuses: ${STATUSES.join(' ')}`, someOf(...STATUSES))
    .option('--node <selector>', `runs that included any of these ${SELECTOR_HELP}`)
    .option('--template <name>', 'runs of this template')
    .option('--text <text>', 'runs with this text in the template, limit, reason or creator')
    .option('--since <time>', 'runs created at this time or later: ISO 8601, or an age such as 30m, 12h or 7d', pointInTime)
    .option('--until <time>', 'runs created before this time', pointInTime)
    .option('-n, --number <n>', 'maximum number of rows', integer, 20)
    .withOutput()
    .action(async ({ output, headers, number, node, template, since, until, ...rest }: Options) => {
      // Reports names without a node, which the filter of the API ignores.
      if (node) await selectNodes(node)
      const filter = {
        ...rest,
        ...(since ? { createdAfter: since } : {}),
        ...(until ? { createdBefore: until } : {}),
        ...(node ? { limit: node } : {}),
        ...(template ? { templateId: (await findTemplate(template)).id } : {}),
      }
      printRows(
        await fetchAll(async (page) => (await request(LIST, { filter, ...page })).jobRuns, number),
        [
          { title: 'RUN', value: (r) => r.number },
          { title: 'TEMPLATE', value: (r) => r.templateName },
          { title: 'STATUS', value: (r) => r.status },
          { title: 'OK', value: (r) => `${r.hostCounts.ok}/${r.hostCounts.total}` },
          { title: 'DURATION', value: (r) => clock(r.durationMs) },
          { title: 'FAILED', value: (r) => r.hostCounts.failed + r.hostCounts.unreachable, wide: true },
          { title: 'CREATED', value: (r) => ago(r.createdAt), wide: true },
          { title: 'BY', value: (r) => r.createdBy.name, wide: true },
          { title: 'ID', value: (r) => bareId(r.id), wide: true },
        ],
        { output, headers },
        Object.keys(filter).length > 0 ? 'No runs match.' : 'No runs yet. Start one with `muster run TEMPLATE --limit all`.',
      )
    })
