import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query AlertSilences($isOver: Boolean, $first: Int, $after: String) {
  alertSilences(isOver: $isOver, first: $first, after: $after) {
    edges { node { id reason startsAt endsAt createdByName matcher { kinds severities query clusters } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Matcher = ResultOf<typeof LIST>['alertSilences']['edges'][number]['node']['matcher']

/** A matcher in one line: `OFFLINE STALE, tag = prod, cluster blue`. */
export const matcherText = ({ kinds, severities, query, clusters }: Matcher): string =>
  [kinds.join(' '), severities.join(' '), query, clusters.length > 0 && `cluster ${clusters.join(' ')}`]
    .filter(Boolean)
    .join(', ') || 'all'

export const alertSilences = () =>
  new Command('silences')
    .description('silences that go on or are to come')
    .option('--all', 'those that are over as well')
    .addOption(outputOption())
    .action(async ({ all, output }: { all?: true; output: Format }) => {
      printRows(
        await rowsOf(async (page) => (await request(LIST, { isOver: all ?? false, ...page })).alertSilences),
        [
          { title: 'ID', value: (s) => bareId(s.id) },
          { title: 'ALERTS', value: (s) => matcherText(s.matcher) },
          { title: 'FROM', value: (s) => s.startsAt },
          { title: 'TO', value: (s) => s.endsAt },
          { title: 'BY', value: (s) => s.createdByName, spare: true },
          { title: 'REASON', value: (s) => s.reason, spare: true },
        ],
        output,
        'Nothing is silenced.',
      )
    })
