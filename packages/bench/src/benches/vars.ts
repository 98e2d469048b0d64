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
import { signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const NODES = 10_000
const GROUPS = 100
const GROUPS_PER_NODE = 50
const SIZES = [1000, 5000, NODES]
const PEER_SIZE = 1000
/** The time for each node may grow by this much from the smallest size to the largest. */
const LINEAR = 1.3

type Inventory = Record<string, { hosts?: string[] }> & { _meta: { hostvars: Record<string, Record<string, unknown>> } }

/**
 * All variables that hold on 10,000 nodes with 50 groups each, laid over each other and rendered as an inventory in one call, and
 * whether the time grows with the number of nodes alone. Beside it ansible-inventory, which reads the same data from a file.
 */
export const bench: Bench = async ({ rounds, say }) => {
  const product = await startProduct()
  const dir = mkdtempSync(join(tmpdir(), 'mv-'))
  try {
    const { tenantId } = await seedFleet(product.databaseUrl, NODES)
    await seedVariables(product.databaseUrl, tenantId)
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    const made = await api.mutate<{ secret: string }>(
      `mutation { createApiToken(input: { name: "bench", role: VIEWER }) { __typename ... on CreateApiTokenPayload { secret } ... on Error { code message } } }`,
    )
    say(`${NODES} nodes, each in ${GROUPS_PER_NODE} of ${GROUPS} groups with 3 variables, and with 2 of its own`)

    const read = async (size: number) => {
      const began = performance.now()
      const answer = await fetch(`${product.url}/api/inventory?limit=${limit(size)}`, {
        headers: { authorization: `Bearer ${made.secret}` },
      })
      if (!answer.ok) throw new Error(`the inventory answers ${answer.status}: ${await answer.text()}`)
      const text = await answer.text()
      return { ms: performance.now() - began, text }
    }
    for (const size of SIZES) checkValues(JSON.parse((await read(size)).text), size)
    say('the nearest layer wins on every node')

    const growth: Record<number, Sample[]> = { 5000: [], [NODES]: [] }
    for (let round = 1; round <= rounds; round++) {
      const perNode = new Map<number, number>()
      for (const size of SIZES) perNode.set(size, (await read(size)).ms / size)
      const small = perNode.get(SIZES[0]!)!
      for (const size of [5000, NODES]) growth[size]!.push({ ours: perNode.get(size)!, peer: small })
      const told = SIZES.map((size) => `${size} nodes ${Math.round(perNode.get(size)! * size)} ms`)
      say(`round ${round} of ${rounds}: ${told.join(', ')}`)
    }

    writeFileSync(join(dir, 'hosts.ini'), staticInventory(PEER_SIZE))
    const theirs = async () => {
      const began = performance.now()
      const inventory = await ansibleInventory(dir)
      const ms = performance.now() - began
      const found = Object.keys(inventory._meta.hostvars).length
      if (found !== PEER_SIZE) throw new Error(`ansible-inventory told of ${found} of ${PEER_SIZE} nodes`)
      return ms
    }
    const ours = async () => (await read(PEER_SIZE)).ms
    return [
      {
        comparison: { what: 'growth_1k_to_5k', unit: 'ms/node', kind: 'cost', goal: LINEAR },
        samples: growth[5000]!,
      },
      {
        comparison: { what: 'growth_1k_to_10k', unit: 'ms/node', kind: 'cost', goal: LINEAR },
        samples: growth[NODES]!,
      },
      {
        comparison: { what: `ansible_inventory_${PEER_SIZE}`, unit: 'ms', kind: 'cost', goal: 0.5 },
        samples: await interleave(ours, theirs, rounds, say),
      },
    ]
  } finally {
    rmSync(dir, { recursive: true })
    await product.stop()
  }
}

const node = (i: number) => `node${String(i).padStart(5, '0')}`
const limit = (size: number) => encodeURIComponent(`node[00001-${String(size).padStart(5, '0')}]`)
/** The groups of the i-th node; the lower number is nearer. */
const groupsOf = (i: number) => Array.from({ length: GROUPS_PER_NODE }, (_, k) => (i + k) % GROUPS)
const groupVars = (g: number) => ({
  level: g,
  [`of_group_${g}`]: `value of group ${g}`,
  net: { mtu: 1500 + g, dns: ['10.0.0.1', '10.0.0.2'] },
})
const nodeVars = (i: number) => ({ slot: i, label: `node number ${i}` })
const globalVars = { level: -1, ntp: '10.0.0.1' }

/** Straight SQL: this is the benchmark's stage. */
async function seedVariables(databaseUrl: string, tenantId: string): Promise<void> {
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
      [tenantId, Array.from({ length: NODES }, (_, i) => JSON.stringify(nodeVars(i + 1)))],
    )
    await db.query('vacuum analyze')
  } finally {
    await db.end()
  }
}

/** @throws Error naming the first node that has another value than the nearest layer's */
function checkValues(inventory: Inventory, size: number): void {
  const found = Object.keys(inventory._meta.hostvars).length
  if (found !== size) throw new Error(`the inventory tells of ${found} of ${size} nodes`)
  for (let i = 1; i <= size; i++) {
    const groups = groupsOf(i)
    const nearest = Math.min(...groups)
    const { level, slot, ntp, net, ...rest } = inventory._meta.hostvars[node(i)]!
    const own = Object.keys(rest).filter((name) => name.startsWith('of_group_')).length
    const isRight = level === nearest && slot === i && ntp === globalVars.ntp && own === GROUPS_PER_NODE
    if (!isRight || (net as { mtu: number }).mtu !== 1500 + nearest)
      throw new Error(`${node(i)} has other variables than it should`)
  }
}

/** The same hosts, groups and variables as Ansible reads them from a file of its own kind. Its larger priority wins. */
function staticInventory(size: number): string {
  const said = (vars: object) => Object.entries(vars).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const hosts = Array.from({ length: size }, (_, i) => i + 1)
  const members = Array.from({ length: GROUPS }, (): string[] => [])
  for (const i of hosts) for (const g of groupsOf(i)) members[g]!.push(node(i))
  return [
    ...hosts.map((i) => `${node(i)} slot=${i} label='node number ${i}'`),
    '[all:vars]',
    ...said(globalVars),
    ...members.flatMap((names, g) => [
      `[g${g}]`,
      ...names,
      `[g${g}:vars]`,
      `ansible_group_priority=${GROUPS - g}`,
      ...said(groupVars(g)),
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
