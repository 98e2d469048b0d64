import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'

const LIST = graphql(`query NodeList($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { id name host port status statusReason tags osName arch lastSeenAt acceleratorSummary { deviceType model count worstHealth } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Row = ResultOf<typeof LIST>['nodes']['edges'][number]['node']
const STATUSES = ['NEW', 'READY', 'UNREACHABLE', 'MAINTENANCE', 'DECOMMISSIONED'] as const
type Options = {
  output: Format
  status?: string[]
  tag?: string[]
  group?: string[]
  vendor?: string[]
  text?: string
  number?: number
}

export const nodeList = () =>
  new Command('list')
    .description('nodes, all of them or the ones that match')
    .argument('[hostlist]', 'names such as gpu[01-08],cpu1')
    .option('--status <status...>', 'NEW READY UNREACHABLE MAINTENANCE DECOMMISSIONED')
    .option('--tag <tag...>', 'with all of these tags')
    .option('--group <group...>', 'in any of these groups')
    .option('--vendor <vendor...>', 'with accelerators of any of these vendors')
    .option('--text <text>', 'in name, host, tags or notes')
    .option('-n, --number <n>', 'at most so many', Number)
    .addOption(outputOption())
    .action(async (hostlist: string | undefined, options: Options) => {
      const filter = {
        ...(hostlist ? { hostlist } : {}),
        ...(options.status ? { status: options.status.map(asStatus) } : {}),
        ...(options.tag ? { tag: options.tag } : {}),
        ...(options.group ? { group: options.group } : {}),
        ...(options.vendor ? { acceleratorVendor: options.vendor } : {}),
        ...(options.text ? { text: options.text } : {}),
      }
      const rows: Row[] = []
      const wanted = options.number ?? Number.POSITIVE_INFINITY
      let after: string | null = null
      do {
        const page: ResultOf<typeof LIST> = await request(LIST, { filter, first: Math.min(500, wanted - rows.length), after })
        rows.push(...page.nodes.edges.map((e) => e.node))
        after = page.nodes.pageInfo.hasNextPage ? page.nodes.pageInfo.endCursor : null
      } while (after && rows.length < wanted)
      printRows(
        rows,
        [
          { title: 'NAME', value: (n) => n.name },
          { title: 'STATUS', value: (n) => n.status },
          {
            title: 'ADDRESS',
            value: (n) => (n.port === 22 ? n.host : `${n.host.includes(':') ? `[${n.host}]` : n.host}:${n.port}`),
          },
          {
            title: 'ACCELERATORS',
            value: (n) => n.acceleratorSummary.map((a) => `${a.count}x ${a.model ?? a.deviceType}`).join(', '),
          },
          { title: 'OS', value: (n) => n.osName },
          { title: 'SEEN', value: (n) => ago(n.lastSeenAt) },
        ],
        options.output,
      )
    })

function asStatus(text: string): (typeof STATUSES)[number] {
  const found = STATUSES.find((s) => s === text.toUpperCase())
  if (!found) throw new CliError(`--status ${text}: must be one of ${STATUSES.join(', ')}`, EXIT.usage)
  return found
}
