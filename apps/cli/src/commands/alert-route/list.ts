import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'
import { matcherText } from '../alert/silences.ts'

const LIST = graphql(`query AlertRouteList($first: Int, $after: String) {
  alertRoutes(first: $first, after: $after) {
    edges { node {
      id name kind origin host port security username from to isEnabled tellsResolved failingSince lastError retryAt
      matcher { kinds severities query clusters }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const alertRouteList = () =>
  new Command('list')
    .description('ways on which alerts reach people, and whether they do')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      printRows(
        await rowsOf(async (page) => (await request(LIST, page)).alertRoutes),
        [
          { title: 'NAME', value: (r) => r.name },
          { title: 'KIND', value: (r) => r.kind },
          { title: 'TO', value: (r) => r.origin ?? `${r.to.join(', ')} by ${r.host}` },
          { title: 'STATE', value: (r) => (!r.isEnabled ? 'off' : r.failingSince ? `fails since ${r.failingSince}` : 'on') },
          { title: 'ALERTS', value: (r) => matcherText(r.matcher), spare: true },
          { title: 'ERROR', value: (r) => r.lastError, spare: true },
        ],
        output,
        'Alerts reach nobody. Make a route with `muster alert-route add`.',
      )
    })
