import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query AlertSilences($includeEnded: Boolean, $first: Int, $after: String) {
  alertSilences(includeEnded: $includeEnded, first: $first, after: $after) {
    edges { node { id reason startsAt endsAt createdBy { name } matcher { kinds severities query clusters } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Matcher = ResultOf<typeof LIST>['alertSilences']['edges'][number]['node']['matcher']

/** One line for a matcher: `OFFLINE STALE, tag = prod, cluster blue`. */
export const matcherText = ({ kinds, severities, query, clusters }: Matcher): string =>
  [kinds.join(' '), severities.join(' '), query, clusters.length > 0 && `cluster ${clusters.join(' ')}`]
    .filter(Boolean)
    .join(', ') || 'all'

export const alertSilences = () =>
  new Command('silences')
    .description('list active and future silences')
    .option('--all', 'include ended silences')
    .withOutput()
    .action(async ({ all, ...output }: Output & { all?: true }) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, { includeEnded: all ?? false, ...page })).alertSilences),
        [
          { title: 'ID', value: (s) => bareId(s.id) },
          { title: 'ALERTS', value: (s) => matcherText(s.matcher) },
          { title: 'FROM', value: (s) => s.startsAt },
          { title: 'TO', value: (s) => s.endsAt },
          { title: 'BY', value: (s) => s.createdBy.name, wide: true },
          { title: 'REASON', value: (s) => s.reason, wide: true },
        ],
        output,
        'No silences.',
      )
    })
