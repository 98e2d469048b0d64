import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { missingIn, sayMissing } from '../../ids.ts'
import { integer, someOf } from '../../options.ts'
import { address, ago, type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'
import { AGENT_STATES } from '../agent/list.ts'

const LIST = graphql(`query NodeList($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { id name host port status statusReason tags agent { state heldAt lastHeartbeat { heardAt } } osName arch lastSeenAt acceleratorSummary { deviceType model count worstHealth } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const STATUSES = ['NEW', 'READY', 'UNREACHABLE', 'MAINTENANCE', 'DECOMMISSIONED'] as const
type Status = (typeof STATUSES)[number]
type Options = {
  output: Format
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
    .description('nodes, all of them or the ones that match')
    .argument('[hostlist]', 'names such as gpu[01-08],cpu1')
    .option('--status <status...>', STATUSES.join(' '), someOf(...STATUSES))
    .option('--tag <tag...>', 'with all of these tags')
    .option('--group <group...>', 'in any of these groups')
    .option('--vendor <vendor...>', 'with accelerators of any of these vendors')
    .option('--agent <state...>', `with an agent that is ${AGENT_STATES.join(' ')}`, someOf(...AGENT_STATES))
    .option('--text <text>', 'in name, host, tags or notes')
    .option('--query <query>', 'that fit a query: accelerator.vendor = amd and not memory < 512GiB')
    .option('-n, --number <n>', 'at most so many', integer)
    .addOption(outputOption())
    .action(async (hostlist: string | undefined, options: Options) => {
      const filter = {
        ...(hostlist ? { hostlist } : {}),
        ...(options.status ? { status: options.status } : {}),
        ...(options.tag ? { tag: options.tag } : {}),
        ...(options.group ? { group: options.group } : {}),
        ...(options.vendor ? { acceleratorVendor: options.vendor } : {}),
        ...(options.agent ? { agentState: options.agent } : {}),
        ...(options.query === undefined ? {} : { query: options.query }),
        ...(options.text ? { text: options.text } : {}),
      }
      const rows = await rowsOf(async (page) => (await request(LIST, { filter, ...page })).nodes, options.number)
      printRows(
        rows,
        [
          { title: 'NAME', value: (n) => n.name },
          { title: 'STATUS', value: (n) => n.status },
          { title: 'ADDRESS', value: (n) => address(n.host, n.port) },
          {
            title: 'ACCELERATORS',
            value: (n) => n.acceleratorSummary.map((a) => `${a.count}x ${a.model ?? a.deviceType}`).join(', '),
          },
          { title: 'AGENT', value: (n) => n.agent?.state, spare: true },
          { title: 'SEEN', value: (n) => ago(n.lastSeenAt), spare: true },
          { title: 'OS', value: (n) => n.osName, spare: true },
        ],
        options.output,
        'No node fits. Add some with `muster node add`.',
      )
      // With another filter, or a limit, one that is not listed may well be there.
      if (hostlist && Object.keys(filter).length === 1 && rows.length > 0 && rows.length !== options.number) {
        const { plain, ranged } = missingIn(hostlist, new Set(rows.map((row) => row.name)))
        sayMissing([...plain, ...ranged])
      }
    })
