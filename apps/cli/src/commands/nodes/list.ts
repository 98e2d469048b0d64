import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { integer, someOf } from '../../options.ts'
import { address, ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { isHostlist, missingNames, noMatch, SELECTOR_HELP, selectNodes, selectorFilter, warnMissing } from '../../selector.ts'
import { AGENT_STATES } from '../agents/list.ts'

const LIST = graphql(`query NodeList($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { id name host port status statusReason health { status reason } tags agent { state offlineSuppressedAt lastHeartbeat { receivedAt } } os { name } arch lastSeenAt acceleratorSummary { deviceType model count worstHealth } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const STATUSES = ['NEW', 'READY', 'UNREACHABLE', 'MAINTENANCE', 'DECOMMISSIONED'] as const
type Status = (typeof STATUSES)[number]
type Options = Output & {
  status?: Status[]
  tag?: string[]
  group?: string[]
  vendor?: string[]
  agent?: (typeof AGENT_STATES)[number][]
  text?: string
  query?: string
  number?: number
}

export const nodeList = () =>
  new Command('list')
    .description('list nodes')
    .argument('[selector]', SELECTOR_HELP)
    .option('--status <status...>', STATUSES.join(' '), someOf(...STATUSES))
    .option('--tag <tag...>', 'nodes with all of these tags')
    .option('--group <group...>', 'nodes in any of these groups')
    .option('--vendor <vendor...>', 'nodes with accelerators of any of these vendors')
    .option(
      '--agent <state...>',
      `nodes with an agent in any of these states: ${AGENT_STATES.join(' ')}`,
      someOf(...AGENT_STATES),
    )
    .option('--text <text>', 'nodes with this text in name, host, tags or notes')
    .option('--query <query>', 'nodes that match a query: accelerator.vendor = amd and not memory < 512GiB')
    .option('-n, --number <n>', 'maximum number of rows', integer)
    .withOutput()
    .action(async (selector: string | undefined, options: Options) => {
      const filter = {
        ...(selector ? selectorFilter(selector) : {}),
        ...(options.status ? { status: options.status } : {}),
        ...(options.tag ? { tag: options.tag } : {}),
        ...(options.group ? { group: options.group } : {}),
        ...(options.vendor ? { acceleratorVendor: options.vendor } : {}),
        ...(options.agent ? { agentState: options.agent } : {}),
        ...(options.query === undefined ? {} : { query: options.query }),
        ...(options.text ? { text: options.text } : {}),
      }
      const rows = await fetchAll(async (page) => (await request(LIST, { filter, ...page })).nodes, options.number)
      const hasOptions = Object.keys(filter).length > (selector ? 1 : 0)
      if (selector && rows.length === 0) {
        if (!hasOptions) throw noMatch(selector)
        // The selector matches no node, or the options exclude all.
        await selectNodes(selector)
      }
      printRows(
        rows,
        [
          { title: 'NAME', value: (n) => n.name },
          { title: 'STATUS', value: (n) => n.status },
          { title: 'HEALTH', value: (n) => n.health.status },
          { title: 'ADDRESS', value: (n) => address(n.host, n.port) },
          {
            title: 'ACCELERATORS',
            value: (n) => n.acceleratorSummary.map((a) => `${a.count}x ${a.model ?? a.deviceType}`).join(', '),
          },
          { title: 'AGENT', value: (n) => n.agent?.state, wide: true },
          { title: 'LAST SEEN', value: (n) => ago(n.lastSeenAt), wide: true },
          { title: 'OS', value: (n) => n.os?.name, wide: true },
        ],
        options,
        Object.keys(filter).length > 0 ? 'No nodes match these filters.' : 'No nodes yet. Add some with `muster node add`.',
      )
      // Other filters and -n may exclude existing nodes.
      if (selector && isHostlist(selector) && !hasOptions && rows.length !== options.number) {
        const { plain, ranged } = missingNames(selector, new Set(rows.map((row) => row.name)))
        warnMissing([...plain, ...ranged])
      }
    })
