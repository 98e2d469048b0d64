import type { Ctx } from '../context.ts'
import { credentials } from '../credentials/tables.ts'
import { visibleTo } from '../db/rows.ts'
import { hostPort, selectNodes } from '../nodes/index.ts'
import { varsOfNodes } from './effective-vars.ts'

type Group = { hosts?: string[]; children?: string[] }
/** What `ansible-inventory --list` prints, and what Ansible reads of an inventory script. */
export type Inventory = { [group: string]: Group } & { _meta?: { hostvars: Record<string, Record<string, unknown>> } }

/** Runs take no nodes in maintenance; who wants them asks for them. */
const EVERYBODY = 'all,!status:MAINTENANCE'

/**
 * The tenant's nodes for an Ansible outside: the same hosts, groups and variables as runs have, and where each node is reached.
 * Secret variables are left out, and so are nodes of the connection type local, which are the worker's own machine.
 * @param limit as for runs: `gpu[01-08]`, `@room`, `{tag = prod}`
 * @throws InvalidInput at limit
 */
export async function readInventory(ctx: Ctx, limit: string | null = null): Promise<Inventory> {
  const nodes = (await selectNodes(ctx, limit ?? EVERYBODY)).filter((node) => node.connectionType === 'ssh')
  const known = await varsOfNodes(
    ctx,
    nodes.map((node) => node.id),
  )
  const logins = await readLogins(ctx)
  const hostvars: [string, Record<string, unknown>][] = []
  const hosts = new Map<string, string[]>([['ungrouped', []]])
  for (const node of nodes) {
    const { groups, vars } = known.get(node.id) ?? { groups: [], vars: [] }
    for (const group of groups.length > 0 ? groups : ['ungrouped']) {
      const members = hosts.get(group)
      if (members) members.push(node.name)
      else hosts.set(group, [node.name])
    }
    const own = vars.filter((each) => each.secretId === null).map((each): [string, unknown] => [each.name, asText(each.value)])
    const user = node.sshUser ?? logins.get(node.credentialId)?.username
    const jumps = wayThrough(logins, node.bastionId)
    const connection = {
      muster_node_id: node.id,
      ansible_host: node.host,
      ansible_port: node.port,
      ...(user ? { ansible_user: user } : {}),
      ...(jumps ? { ansible_ssh_common_args: `-o ProxyJump=${jumps}` } : {}),
    }
    hostvars.push([node.name, Object.fromEntries([...own, ...Object.entries(connection)])])
  }
  const groups = [...hosts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, some]): [string, Group] => [name, { hosts: some }])
  return {
    _meta: { hostvars: Object.fromEntries(hostvars) },
    all: { children: groups.map(([name]) => name) },
    ...Object.fromEntries(groups),
  } as Inventory
}

type Logins = Map<string | null, Pick<typeof credentials.$inferSelect, 'id' | 'username' | 'host' | 'port' | 'viaId'>>

async function readLogins(ctx: Ctx): Promise<Logins> {
  const rows = await ctx.db
    .select({
      id: credentials.id,
      username: credentials.username,
      host: credentials.host,
      port: credentials.port,
      viaId: credentials.viaId,
    })
    .from(credentials)
    .where(visibleTo(ctx, credentials))
  return new Map(rows.map((row) => [row.id, row]))
}

/** The bastions on the way to one, outermost first, as ssh's ProxyJump reads them; null: none. Circles are refused when made. */
function wayThrough(logins: Logins, bastionId: string | null): string | null {
  const hops: string[] = []
  for (let hop = logins.get(bastionId); hop?.host; hop = logins.get(hop.viaId))
    hops.unshift(`${hop.username}@${hostPort(hop.host, hop.port ?? 22)}`)
  return hops.length > 0 ? hops.join(',') : null
}

/**
 * A value in which no string is evaluated: Ansible would run the expressions in those of an inventory on the machine that it
 * runs on. Ansible's JSON marks strings so; keys are never evaluated.
 */
function asText(value: unknown): unknown {
  if (typeof value === 'string') return /\{|^#jinja2:/.test(value) ? { __ansible_unsafe: value } : value
  if (Array.isArray(value)) return value.map(asText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asText(inner)]))
}
