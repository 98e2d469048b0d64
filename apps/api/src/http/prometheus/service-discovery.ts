import { hostPort, Port } from '@muster/core/address'
import { isOneOf, visibleTo } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { groupsOfNodes } from '@muster/core/groups'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { selectNodes } from '@muster/core/selection'
import { and } from 'drizzle-orm'
import type { TokenEndpoint } from '../token-endpoint.ts'

const { agents } = schema

/** Default port of prometheus-node-exporter. */
const NODE_EXPORTER_PORT = '9100'

/** A list label as in Prometheus service discoveries: in `,a,b,` the pattern `.*,a,.*` matches a whole entry. */
const listLabel = (values: string[]) => `,${values.join(',')},`

/**
 * `GET /sd/targets?limit=…&port=…`: nodes as targets for Prometheus HTTP service discovery. `port` can be repeated. Labels with the
 * prefix __meta_ are for relabeling; the others are added to the scraped metrics.
 */
export const serviceDiscoveryEndpoint: TokenEndpoint = {
  name: 'target list',
  contentType: 'application/json',
  async read(ctx, params) {
    const ports = params.getAll('port')
    const targetPorts = (ports.length > 0 ? ports : [NODE_EXPORTER_PORT]).map(portOf)
    return `${JSON.stringify(await targets(ctx, params.get('limit') ?? 'all', targetPorts))}\n`
  },
}

function portOf(text: string): number {
  const port = Port.safeParse(Number(text))
  if (!port.success) throw new InvalidInput([{ path: 'port', message: port.error.issues[0]!.message }])
  return port.data
}

async function targets(ctx: Ctx, limit: string, ports: number[]) {
  const nodes = (await selectNodes(ctx, limit)).filter((node) => node.connectionType === 'ssh')
  const ids = nodes.map((node) => node.id)
  const groups = await groupsOfNodes(ctx.db, ctx, ids)
  const rows = await ctx.db
    .select({ nodeId: agents.nodeId, cluster: agents.cluster, state: agents.state })
    .from(agents)
    .where(and(visibleTo(ctx, agents), isOneOf(agents.nodeId, ids)))
  const agentOf = new Map(rows.map((row) => [row.nodeId, row]))
  return nodes.map((node) => {
    const agent = agentOf.get(node.id)
    return {
      targets: ports.map((port) => hostPort(node.host, port)),
      labels: {
        node: node.name,
        ...(agent ? { cluster: agent.cluster, __meta_muster_agent_state: agent.state } : {}),
        ...(node.region === null ? {} : { region: node.region }),
        ...(node.datacenter === null ? {} : { datacenter: node.datacenter }),
        __meta_muster_id: node.id,
        __meta_muster_status: node.status,
        __meta_muster_type: node.nodeType,
        ...(node.osId === null ? {} : { __meta_muster_os: node.osId }),
        ...(node.arch === null ? {} : { __meta_muster_arch: node.arch }),
        __meta_muster_tags: listLabel(node.tags),
        __meta_muster_groups: listLabel((groups.get(node.id) ?? []).map((group) => group.name)),
        ...Object.fromEntries(
          Object.entries(node.labels).map(([key, value]) => [`__meta_muster_label_${key.replace(/[^A-Za-z0-9_]/g, '_')}`, value]),
        ),
      },
    }
  })
}
