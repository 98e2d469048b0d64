import autocannon from 'autocannon'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { type Client, connect, textOf } from '../client.ts'
import { interleave } from '../compare.ts'
import { NODE_PAGE } from '../documents.ts'
import { seedFleet } from '../fleet.ts'
import { createViewerToken, signIn } from '../onboard.ts'
import { installPeer, peerScript, startPeer } from '../peer-process.ts'
import { startProduct } from '../product.ts'

const NODES = 10_000
const PAGE = 50
const PAGES = [10, 100, 500]
const MOST_STATEMENTS = 6
const SECONDS = 4
const CONNECTIONS = 8

const POSTGRAPHILE = `query ($first: Int!) {
  allComputeNodes(first: $first, orderBy: ROW_ID_ASC) { edges { node {
    id name host status tags osName memoryBytes
    acceleratorsByNodeId { nodes { index deviceType model memoryTotal health } }
    nodeGroupMembersByNodeId { nodes { nodeGroupByGroupIdAndExclusiveSet { name priority } } }
  } } }
}`

type Target = { url: string; method: 'GET' | 'POST'; headers?: Record<string, string>; body?: string }
type Row = { name: string; accelerators: unknown[]; groups: unknown[] }

/** Requests per second for a page of 50 of 10,000 nodes with accelerators and groups, as one caller's console asks for it. */
export const bench: Bench = async ({ rounds, print }) => {
  const peerDir = installPeer('postgraphile')
  const product = await startProduct({}, { shared_preload_libraries: 'pg_stat_statements' })
  const { tenantId } = await seedFleet(product.databaseUrl, NODES)
  print(`${NODES} nodes in place`)
  const postgraphile = await startPeer(`${peerDir}/server.mjs`, { DATABASE_URL: product.databaseUrl })
  const jsonAgg = await startPeer(peerScript('json-agg.mjs'), { DATABASE_URL: product.databaseUrl })
  try {
    let session: string | null = null
    const api = connect(product.url, () => session)
    session = await signIn(api, product.linkToken)
    const token = await createViewerToken(api)
    session = token

    const json = { 'content-type': 'application/json' }
    const ours: Target = {
      url: `${product.url}/graphql`,
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: textOf(NODE_PAGE), variables: { first: PAGE } }),
    }
    const theirs: Target = {
      url: `${postgraphile.url}/graphql`,
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query: POSTGRAPHILE, variables: { first: PAGE } }),
    }
    const limit: Target = { url: `${jsonAgg.url}/?tenant=${tenantId}&first=${PAGE}`, method: 'GET' }

    await sameAnswer(ours, theirs, limit)
    print('all three give the same nodes, accelerators and groups')
    await countStatements(product.databaseUrl, api, print)

    for (const target of [ours, theirs, limit]) await load(target)
    const rate = (target: Target) => () => load(target)
    return [
      {
        comparison: { what: 'vs_postgraphile', unit: 'req/s', kind: 'throughput', goal: 1 },
        samples: await interleave(rate(ours), rate(theirs), rounds, print),
      },
      {
        comparison: { what: 'vs_json_agg', unit: 'req/s', kind: 'throughput', goal: 0.5 },
        samples: await interleave(rate(ours), rate(limit), rounds, print),
      },
    ]
  } finally {
    await Promise.all([postgraphile.stop(), jsonAgg.stop()])
    await product.stop()
  }
}

/** @returns answers per second @throws Error when any answer was not a good one */
async function load(target: Target): Promise<number> {
  const result = await autocannon({ ...target, connections: CONNECTIONS, duration: SECONDS })
  const failed = result.non2xx + result.errors + result.timeouts
  if (failed > 0) throw new Error(`${target.url}: ${failed} requests failed`)
  return result['2xx'] / result.duration
}

async function rows(target: Target): Promise<Row[]> {
  const response = await fetch(target.url, {
    method: target.method,
    ...(target.headers ? { headers: target.headers } : {}),
    ...(target.body ? { body: target.body } : {}),
  })
  const { data, errors } = (await response.json()) as { data: Record<string, unknown>; errors?: unknown }
  if (errors) throw new Error(`${target.url}: ${JSON.stringify(errors)}`)
  type Theirs = {
    name: string
    acceleratorsByNodeId: { nodes: unknown[] }
    nodeGroupMembersByNodeId: { nodes: { nodeGroupByGroupIdAndExclusiveSet: unknown }[] }
  }
  if (data.allComputeNodes)
    return (data.allComputeNodes as { edges: { node: Theirs }[] }).edges.map(({ node }) => ({
      name: node.name,
      accelerators: node.acceleratorsByNodeId.nodes,
      groups: node.nodeGroupMembersByNodeId.nodes.map((m) => m.nodeGroupByGroupIdAndExclusiveSet),
    }))
  const nodes = data.nodes as Row[] | { edges: { node: Row }[] }
  return Array.isArray(nodes) ? nodes : nodes.edges.map((e) => e.node)
}

async function sameAnswer(...targets: Target[]): Promise<void> {
  const shape = (all: Row[]) => JSON.stringify(all.map((n) => [n.name, n.accelerators.length, n.groups.length]))
  const [first, ...others] = await Promise.all(targets.map(rows))
  if (first!.length !== PAGE) throw new Error(`expected ${PAGE} nodes, got ${first!.length}`)
  for (const other of others) if (shape(other) !== shape(first!)) throw new Error('the contenders disagree about the nodes')
}

/** @throws Error when the number of statements grows with the page or is above the allowed */
async function countStatements(databaseUrl: string, api: Client, print: (text: string) => void): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    await db.query('create extension if not exists pg_stat_statements')
    const counts: number[] = []
    for (const first of PAGES) {
      await api.request(NODE_PAGE, { first })
      await db.query('select pg_stat_statements_reset()')
      await api.request(NODE_PAGE, { first })
      // What polls in the background is not part of the page: only statements that read nodes, their parts or the caller.
      const { rows: found } = await db.query<{ calls: number }>(
        `select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database()) and query ~* 'compute_nodes|accelerators|node_groups|api_tokens|members|sessions'
           and query !~* 'pg_stat_statements'`,
      )
      counts.push(found[0]!.calls)
    }
    print(`SQL statements for pages of ${PAGES.join(', ')}: ${counts.join(', ')}`)
    if (new Set(counts).size > 1 || counts[0]! > MOST_STATEMENTS)
      throw new Error(
        `SQL statements must be the same for every page and at most ${MOST_STATEMENTS}; they are ${counts.join(', ')}`,
      )
  } finally {
    await db.end()
  }
}
