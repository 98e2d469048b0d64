import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { matcherText } from '../silences.ts'

const LIST = graphql(`query AlertRouteList($first: Int, $after: String) {
  alertRoutes(first: $first, after: $after) {
    edges { node {
      id name kind origin host port security username from to isEnabled notifyOnResolve failingSince lastError retryAt
      matcher { kinds severities query clusters }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const alertRouteList = () =>
  new Command('list')
    .description('list alert routes with their delivery state')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, page)).alertRoutes),
        [
          { title: 'NAME', value: (r) => r.name },
          { title: 'KIND', value: (r) => r.kind },
          { title: 'TO', value: (r) => r.origin ?? `${r.to.join(', ')} by ${r.host}` },
          { title: 'STATE', value: (r) => (!r.isEnabled ? 'off' : r.failingSince ? `failing since ${r.failingSince}` : 'on') },
          { title: 'ALERTS', value: (r) => matcherText(r.matcher), wide: true },
          { title: 'ERROR', value: (r) => r.lastError, wide: true },
        ],
        output,
        'No alert routes; no alerts are sent. Create one with `muster alert-route add`.',
      )
    })
