import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { nodeIdOf } from '../../ids.ts'
import { integer, someOf } from '../../options.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'
import { shortId } from './ids.ts'

const LIST = graphql(`query AlertList($filter: AlertFilter, $first: Int, $after: String) {
  alerts(filter: $filter, first: $first, after: $after) {
    edges { node { id kind severity text cluster openedAt lastAt count resolvedAt acknowledgedAt acknowledgedByName acknowledgement evidence node { name } silence { reason endsAt } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Row = ResultOf<typeof LIST>['alerts']['edges'][number]['node']
const SEVERITIES = ['INFO', 'WARNING', 'CRITICAL'] as const
type Options = { output: Format; all?: true; severity?: (typeof SEVERITIES)[number][]; node?: string; number: number }

export const alertList = () =>
  new Command('list')
    .description('alerts that are open, the newest first')
    .option('--all', 'those that are over as well')
    .option('--severity <severity...>', SEVERITIES.join(' '), someOf(...SEVERITIES))
    .option('--node <name>', 'about this node')
    .option('-n, --number <n>', 'at most so many', integer, 100)
    .addOption(outputOption())
    .action(async ({ output, all, severity, node, number }: Options) => {
      const filter = {
        ...(all ? {} : { isOpen: true }),
        ...(severity ? { severity } : {}),
        ...(node ? { nodeId: await nodeIdOf(node) } : {}),
      }
      printRows(
        await rowsOf(async (page) => (await request(LIST, { filter, ...page })).alerts, number),
        [
          { title: 'ID', value: (a) => shortId(a.id) },
          { title: 'SEVERITY', value: (a) => a.severity },
          { title: 'STATE', value: state },
          { title: 'SINCE', value: (a) => ago(a.openedAt) },
          { title: 'ALERT', value: (a) => a.text },
          { title: 'SEEN', value: (a) => `${a.count}x`, spare: true },
          { title: 'NOTE', value: (a) => a.acknowledgement, spare: true },
        ],
        output,
        'No alert is open.',
      )
    })

function state(alert: Row): string {
  if (alert.resolvedAt) return 'over'
  if (alert.silence) return 'silenced'
  return alert.acknowledgedAt ? `ack by ${alert.acknowledgedByName}` : 'open'
}
