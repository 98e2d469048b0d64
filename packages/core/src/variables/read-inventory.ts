import { eq, sql } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { readGroupTree } from '../groups/index.ts'
import { hostPort } from '../kernel/address.ts'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { defaultPython } from '../nodes/index.ts'
import { computeNodes } from '../nodes/tables.ts'
import { selectNodes } from '../selection/index.ts'
import { varsOfNodes } from './effective-vars.ts'
import { hostVariables } from './host-variables.ts'

type Group = { hosts?: string[]; children?: string[] }
/** The JSON format of `ansible-inventory --list` and of inventory scripts. */
export type Inventory = { [group: string]: Group } & { _meta?: { hostvars: Record<string, Record<string, unknown>> } }

/** Runs skip nodes in maintenance as well; a limit that names them includes them. */
const DEFAULT_LIMIT = 'all,!status:MAINTENANCE'

/**
 * The tenant's nodes for an external Ansible: the hosts, nested groups and variables of our own runs, and how each node is reached.
 * Leaves out secret variables and nodes of the connection type local, which mean the worker's own machine.
 * @param limit same grammar as for runs: `gpu[01-08]`, `@room`, `{tag = prod}`
 * @throws InvalidInput at limit
 */
export async function readInventory(ctx: Ctx, limit: string | null = null): Promise<Inventory> {
  const nodes = (await selectNodes(ctx, limit ?? DEFAULT_LIMIT)).filter((node) => node.connectionType === 'ssh')
  const ids = nodes.map((node) => node.id)
  const [varsOf, facts, logins, pythons, tree] = await Promise.all([
    varsOfNodes(ctx, ids),
    hostVariables(ctx, ids),
    readLogins(ctx),
    readPythons(ctx, ids),
    readGroupTree(ctx.db, ctx),
  ])
  const groups = new Map<string, Required<Group>>([['ungrouped', { hosts: [], children: [] }]])
  const groupNamed = (name: string) => {
    const group = groups.get(name) ?? { hosts: [], children: [] }
    groups.set(name, group)
    return group
  }
  const hostvars = nodes.map((node): [string, Record<string, unknown>] => {
    const { groups: memberOf, vars } = varsOf.get(node.id) ?? { groups: [], vars: [] }
    for (const name of memberOf) groupNamed(name)
    for (const name of lowestGroups(memberOf, tree)) groupNamed(name).hosts.push(node.name)
    const visible = vars.filter((entry) => entry.secretId === null)
    const user = node.sshUser ?? logins.get(node.credentialId)?.username
    const jumps = proxyJump(logins, node.bastionId)
    const python = pythons.get(node.id)
    const connection = {
      muster_node_id: node.id,
      ansible_host: node.host,
      ansible_port: node.port,
      ...(user ? { ansible_user: user } : {}),
      ...(jumps ? { ansible_ssh_common_args: `-o ProxyJump=${jumps}` } : {}),
    }
    return [
      node.name,
      {
        ...(python ? { ansible_python_interpreter: python } : {}),
        ...(markUnsafe(facts.get(node.id) ?? {}) as object),
        ...Object.fromEntries(visible.map(({ name, value }) => [name, markUnsafe(value)])),
        ...connection,
      },
    ]
  })
  const topLevel: string[] = []
  for (const name of [...groups.keys()].sort()) {
    const parent = tree.upwards(tree.byName.get(name) ?? ({ parentId: null } as never))[1]
    if (parent && groups.has(parent.name)) groupNamed(parent.name).children.push(name)
    else topLevel.push(name)
  }
  return {
    _meta: { hostvars: Object.fromEntries(hostvars) },
    all: { children: topLevel },
    ...Object.fromEntries(
      [...groups]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { hosts, children }]): [string, Group] => [name, children.length > 0 ? { hosts, children } : { hosts }]),
    ),
  } as Inventory
}

/** The groups with the node as a direct member. The inventory adds it to their parents through `children`. */
function lowestGroups(memberOf: string[], tree: Awaited<ReturnType<typeof readGroupTree>>): string[] {
  if (memberOf.length === 0) return ['ungrouped']
  const above = new Set(memberOf.flatMap((name) => tree.upwards(tree.byName.get(name)!).slice(1)))
  return memberOf.filter((name) => !above.has(tree.byName.get(name)!))
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

async function readPythons(ctx: Ctx, ids: string[]): Promise<Map<string, string>> {
  const rows = await ctx.db
    .select({ id: computeNodes.id, python: sql<Parameters<typeof defaultPython>[0]>`${computeNodes.facts} -> 'python'` })
    .from(computeNodes)
    .where(
      sql`${visibleTo(ctx, computeNodes)} and ${isOneOf(computeNodes.id, ids)} and ${eq(computeNodes.connectionType, 'ssh')}`,
    )
  return new Map(rows.flatMap(({ id, python }) => (defaultPython(python) ? [[id, defaultPython(python)!]] : [])))
}

/**
 * The bastions on the route, outermost first, as a ProxyJump value; null when the node is reached directly. Cycles are
 * impossible, because verbs reject them.
 */
function proxyJump(logins: Logins, bastionId: string | null): string | null {
  const hops: string[] = []
  for (let hop = logins.get(bastionId); hop?.host; hop = logins.get(hop.viaId))
    hops.unshift(`${hop.username}@${hostPort(hop.host, hop.port ?? 22)}`)
  return hops.length > 0 ? hops.join(',') : null
}

/**
 * Marks strings as Ansible's JSON does for text that is never templated: an expression in an inventory value would run on the
 * controller. Ansible never templates keys.
 */
function markUnsafe(value: unknown): unknown {
  if (typeof value === 'string') return /\{|^#jinja2:/.test(value) ? { __ansible_unsafe: value } : value
  if (Array.isArray(value)) return value.map(markUnsafe)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, markUnsafe(inner)]))
}
