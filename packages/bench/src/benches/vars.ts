import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { connect } from '../client.ts'
import { interleave, type Sample } from '../compare.ts'
import { seedFleet } from '../fleet.ts'
import { createViewerToken, signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const NODES = 10_000
const GROUPS = 100
const GROUPS_PER_NODE = 50
/** Allowed growth of the time per node from the smallest size to the largest. */
const LINEAR = 1.3

type Inventory = Record<string, { hosts?: string[] }> & { _meta: { hostvars: Record<string, Record<string, unknown>> } }

/**
 * The inventory with the effective variables of 10,000 nodes with 50 groups each, in one request, and whether its time grows linearly
 * with the number of nodes. Peer: ansible-inventory with the same data in a file. `--nodes` reduces the largest size.
 */
export const bench: Bench = async ({ rounds, print, option }) => {
  const total = option('nodes', NODES)
  const peerSize = Math.min(1000, total)
  const sizes = [total / 10, total / 2, total].map(Math.ceil)
  const product = await startProduct()
  const dir = mkdtempSync(join(tmpdir(), 'mv-'))
  try {
    const { tenantId } = await seedFleet(product.databaseUrl, total)
    await seedVariables(product.databaseUrl, tenantId, total)
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    const viewerToken = await createViewerToken(api)
    print(`${total} nodes, each in ${GROUPS_PER_NODE} of ${GROUPS} groups with 3 variables, and with 2 of its own`)

    const read = async (size: number) => {
      const began = performance.now()
      const answer = await fetch(`${product.url}/api/inventory?limit=${limit(size)}`, {
        headers: { authorization: `Bearer ${viewerToken}` },
      })
      if (!answer.ok) throw new Error(`the inventory endpoint answered ${answer.status}: ${await answer.text()}`)
      const text = await answer.text()
      return { ms: performance.now() - began, text }
    }
    for (const size of sizes) checkValues(JSON.parse((await read(size)).text), size)
    print('the layer with the highest precedence applies on every node')

    const growth: [half: Sample[], full: Sample[]] = [[], []]
    for (let round = 1; round <= rounds; round++) {
      const perNode = new Map<number, number>()
      for (const size of sizes) perNode.set(size, (await read(size)).ms / size)
      const small = perNode.get(sizes[0]!)!
      for (const i of [0, 1] as const) growth[i].push({ ours: perNode.get(sizes[i + 1]!)!, peer: small })
      const times = sizes.map((size) => `${size} nodes ${Math.round(perNode.get(size)! * size)} ms`)
      print(`round ${round} of ${rounds}: ${times.join(', ')}`)
    }

    writeFileSync(join(dir, 'hosts.ini'), staticInventory(peerSize))
    const theirs = async () => {
      const began = performance.now()
      const inventory = await ansibleInventory(dir)
      const ms = performance.now() - began
      const found = Object.keys(inventory._meta.hostvars).length
      if (found !== peerSize) throw new Error(`ansible-inventory returned ${found} of ${peerSize} nodes`)
      return ms
    }
    const ours = async () => (await read(peerSize)).ms
    return [
      {
        comparison: { what: 'growth_tenth_to_half', unit: 'ms/node', kind: 'cost', goal: LINEAR },
        samples: growth[0],
      },
      {
        comparison: { what: 'growth_tenth_to_all', unit: 'ms/node', kind: 'cost', goal: LINEAR },
        samples: growth[1],
      },
      {
        comparison: { what: `ansible_inventory_${peerSize}`, unit: 'ms', kind: 'cost', goal: 0.5 },
        samples: await interleave(ours, theirs, rounds, print),
      },
    ]
  } finally {
    rmSync(dir, { recursive: true })
    await product.stop()
  }
}

const node = (i: number) => `node${String(i).padStart(5, '0')}`
const limit = (size: number) => encodeURIComponent(`node[00001-${String(size).padStart(5, '0')}]`)
/** The groups of the i-th node; lower numbers have precedence. */
const groupsOf = (i: number) => Array.from({ length: GROUPS_PER_NODE }, (_, k) => (i + k) % GROUPS)
const groupVars = (g: number) => ({
  level: g,
  [`of_group_${g}`]: `value of group ${g}`,
  net: { mtu: 1500 + g, dns: ['10.0.0.1', '10.0.0.2'] },
})
const nodeVars = (i: number) => ({ slot: i, label: `node number ${i}` })
const globalVars = { level: -1, ntp: '10.0.0.1' }

/** Inserts the variables with SQL; creating them is not measured. */
async function seedVariables(databaseUrl: string, tenantId: string, nodes: number): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  const scope = `insert into variable_scopes (id, tenant_id, vars, updated_by_name, group_id, node_id)`
  try {
    await db.query('delete from node_groups')
    await db.query(
      `insert into node_groups (id, tenant_id, name, priority) select gen_random_uuid(), $1, 'g' || i, i from generate_series(0, $2 - 1) i`,
      [tenantId, GROUPS],
    )
    await db.query(
      `insert into node_group_members (group_id, node_id) select g.id, n.id
       from (select id, right(name, 5)::int as i from compute_nodes) n cross join generate_series(0, $1 - 1) k
       join node_groups g on g.priority = (n.i + k) % $2`,
      [GROUPS_PER_NODE, GROUPS],
    )
    await db.query(`${scope} select gen_random_uuid(), $1, $2, 'bench', null, null`, [tenantId, globalVars])
    await db.query(
      `${scope} select gen_random_uuid(), $1, v.vars, 'bench', g.id, null
       from unnest($2::jsonb[]) with ordinality v(vars, i) join node_groups g on g.priority = v.i - 1`,
      [tenantId, Array.from({ length: GROUPS }, (_, g) => JSON.stringify(groupVars(g)))],
    )
    await db.query(
      `${scope} select gen_random_uuid(), $1, v.vars, 'bench', null, n.id
       from unnest($2::jsonb[]) with ordinality v(vars, i) join compute_nodes n on right(n.name, 5)::int = v.i`,
      [tenantId, Array.from({ length: nodes }, (_, i) => JSON.stringify(nodeVars(i + 1)))],
    )
    await db.query('vacuum analyze')
  } finally {
    await db.end()
  }
}

/** @throws Error naming the first node whose value is not from the layer with the highest precedence */
function checkValues(inventory: Inventory, size: number): void {
  const found = Object.keys(inventory._meta.hostvars).length
  if (found !== size) throw new Error(`the inventory has ${found} of ${size} nodes`)
  for (let i = 1; i <= size; i++) {
    const groups = groupsOf(i)
    const nearest = Math.min(...groups)
    const { level, slot, ntp, net, ...rest } = inventory._meta.hostvars[node(i)]!
    const own = Object.keys(rest).filter((name) => name.startsWith('of_group_')).length
    const isExpected = level === nearest && slot === i && ntp === globalVars.ntp && own === GROUPS_PER_NODE
    if (!isExpected || (net as { mtu: number }).mtu !== 1500 + nearest) throw new Error(`${node(i)} has wrong variables`)
  }
}

/** The same hosts, groups and variables as an INI inventory. In Ansible, the larger priority has precedence. */
function staticInventory(size: number): string {
  const assignments = (vars: object) => Object.entries(vars).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const hosts = Array.from({ length: size }, (_, i) => i + 1)
  const members = Array.from({ length: GROUPS }, (): string[] => [])
  for (const i of hosts) for (const g of groupsOf(i)) members[g]!.push(node(i))
  return [
    ...hosts.map((i) => `${node(i)} slot=${i} label='node number ${i}'`),
    '[all:vars]',
    ...assignments(globalVars),
    ...members.flatMap((names, g) => [
      `[g${g}]`,
      ...names,
      `[g${g}:vars]`,
      `ansible_group_priority=${GROUPS - g}`,
      ...assignments(groupVars(g)),
    ]),
  ].join('\n')
}

async function ansibleInventory(dir: string): Promise<Inventory> {
  const ansible = process.env.ANSIBLE_PLAYBOOK
  const program = ansible ? join(dirname(ansible), 'ansible-inventory') : 'ansible-inventory'
  const env = { PATH: process.env.PATH, HOME: dir, LANG: 'C.UTF-8' }
  const { stdout } = await promisify(execFile)(program, ['-i', join(dir, 'hosts.ini'), '--list'], { env, maxBuffer: 1 << 29 })
  return JSON.parse(stdout) as Inventory
}
