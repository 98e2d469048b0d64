import { consoleQuery } from '@muster/core/testing'
import { buildClientSchema, getIntrospectionQuery, getNamedType, type IntrospectionQuery, isObjectType } from 'graphql'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { connect, textOf } from '../client.ts'
import { interleave, median } from '../compare.ts'
import { NODE_PAGE } from '../documents.ts'
import { drawSelection, listsOf, nodeTypeOf, type Random } from '../draw-selection.ts'
import { seedFleet, seedLists, seedQueryGroups } from '../fleet.ts'
import { createMeter, dataOf, type Measured, type Target } from '../load/http-meter.ts'
import { createViewerToken, signIn } from '../onboard.ts'
import { installPeer, peerScript, startPeer } from '../peer-process.ts'
import { peerField, toPostgraphile } from '../postgraphile-query.ts'
import { startProduct } from '../product.ts'

const NODES = 10_000
const PAGE = 50
const PAGES = [10, 100, 500]
const MAX_STATEMENTS = 6
/** A statement that runs at least this often belongs to the repeated request; background polling runs less often. */
const REPEATED = 20
const DRAWN = 5
/** Minimum share of our fields in the peer's query. Below it the work differs, so the ratio is printed without a goal. */
const COMPARABLE = 0.9

const PLAIN = textOf(NODE_PAGE)
const PLAIN_OF_POSTGRAPHILE = `query Plain($first: Int!) {
  allComputeNodes(first: $first, orderBy: ROW_ID_ASC) { edges { node {
    id name host status tags osName memoryBytes
    acceleratorsByNodeId { nodes { index deviceType model memoryTotal health } }
    nodeGroupMembersByNodeId { nodes { nodeGroupByGroupIdAndExclusiveSet { name priority } } }
  } } }
}`

type Row = { name: string; accelerators: unknown[]; groups: unknown[] }
/** `share`: share of our fields in the peer's query. */
type Selection = { what: string; query: string; variables?: object; peer: Target | null; share: number; goal: number | null }

/**
 * Requests per second of CPU (of the server process and Postgres together, since other programs on a machine change rates but hardly
 * CPU) for pages of 50: the plain page of 10,000 nodes, the console's lists, and selections drawn from the schema (`--seed`).
 * Compared with PostGraphile on the same database and with one hand-written statement.
 */
export const bench: Bench = async ({ rounds, print, random }) => {
  const peerDir = installPeer('postgraphile')
  const product = await startProduct({}, { shared_preload_libraries: 'pg_stat_statements' })
  const { databaseUrl } = product
  const { tenantId } = await seedFleet(databaseUrl, NODES)
  await seedLists(databaseUrl, tenantId, 600)
  print(`${NODES} nodes in place`)
  const postgraphile = await startPeer(`${peerDir}/server.mjs`, { DATABASE_URL: databaseUrl })
  const jsonAgg = await startPeer(peerScript('json-agg.mjs'), { DATABASE_URL: databaseUrl })
  try {
    let session: string | null = null
    const api = connect(product.url, () => session)
    session = await signIn(api, product.linkToken)
    const token = await createViewerToken(api)
    session = token
    // It polls the database and does not serve queries.
    await product.kill('worker')

    const json = { 'content-type': 'application/json' }
    const ourPid = product.pid('api')
    const ours = (query: string, variables: object = {}): Target => ({
      url: `${product.url}/graphql`,
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables: { first: PAGE, ...variables } }),
      pid: ourPid,
    })
    const theirs = (query: string): Target => ({
      url: `${postgraphile.url}/graphql`,
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query, variables: { first: PAGE } }),
      pid: postgraphile.pid,
    })
    const limit: Target = { url: `${jsonAgg.url}/?tenant=${tenantId}&first=${PAGE}`, method: 'GET', pid: jsonAgg.pid }
    const plain = theirs(PLAIN_OF_POSTGRAPHILE)

    await sameAnswer(ours(PLAIN), plain, limit)
    print('all three return the same nodes, accelerators and groups')

    const measure = createMeter(() => product.cpu().postgres)
    const results: Awaited<ReturnType<Bench>> = []
    const compare = async (what: string, one: Target, peer: Target, goal: number | null) => {
      for (const target of [one, peer]) await measure(target)
      const both = { ours: [] as Measured[], peer: [] as Measured[] }
      const contender = (who: 'ours' | 'peer', target: Target) => async () => {
        const measured = await measure(target)
        both[who].push(measured)
        return 1000 / measured.cpuMs
      }
      const samples = await interleave(contender('ours', one), contender('peer', peer), rounds, () => {})
      const text = (all: Measured[]) => {
        const of = (key: keyof Measured) => median(all.map((each) => each[key]))
        return `${of('rate').toFixed(0)} req/s, ${of('cpuMs').toFixed(2)} ms of CPU each (server ${of('serverMs').toFixed(2)}, Postgres ${of('postgresMs').toFixed(2)})`
      }
      const ratio = (key: 'rate' | 'cpuMs') => median(both.ours.map((each, i) => each[key] / both.peer[i]![key]))
      print(
        `${what}: ours ${text(both.ours)}; peer ${text(both.peer)}; ${ratio('rate').toFixed(2)}x by rate, ${(1 / ratio('cpuMs')).toFixed(2)}x by CPU`,
      )
      if (goal !== null) results.push({ comparison: { what, unit: 'req/CPU-s', kind: 'throughput', goal }, samples })
    }

    await compare('plain_vs_postgraphile', ours(PLAIN), plain, 1)
    await compare('plain_vs_json_agg', ours(PLAIN), limit, 0.5)

    await seedQueryGroups(databaseUrl, tenantId)
    const selections: Selection[] = [
      { what: 'plain_with_query_groups', query: PLAIN, peer: plain, share: 1, goal: 0.8 },
      ...(await chooseSelections(ours, theirs, random, print)),
    ]
    for (const { what, query, variables, peer, share, goal } of selections) {
      const counts = await countStatements(databaseUrl, (first) => ours(query, { ...variables, first }))
      print(`${what}: SQL statements for pages of ${PAGES.join(', ')}: ${counts.join(', ')}`)
      if (new Set(counts).size > 1 || counts[0]! > MAX_STATEMENTS)
        throw new Error(`${what}: SQL statements must be the same for every page and at most ${MAX_STATEMENTS}.\n${query}`)
      if (peer) {
        print(`${what}: PostGraphile is asked for ${Math.round(share * 100)}% of the fields`)
        await compare(what, ours(query, variables), peer, goal)
      } else {
        await measure(ours(query, variables))
        const { rate, cpuMs } = await measure(ours(query, variables))
        print(`${what}: ours ${rate.toFixed(0)} req/s, ${cpuMs.toFixed(2)} ms of CPU each; PostGraphile has no such list`)
      }
    }
    return results
  } finally {
    await Promise.all([postgraphile.stop(), jsonAgg.stop()])
    await product.stop()
  }
}

/** The console's lists, and selections drawn at random; every other one is drawn from what PostGraphile can express. */
async function chooseSelections(
  ours: (query: string, variables?: object) => Target,
  theirs: (query: string) => Target,
  random: Random,
  print: (text: string) => void,
): Promise<Selection[]> {
  const introspection = getIntrospectionQuery()
  const ourSchema = buildClientSchema(await dataOf<IntrospectionQuery>(ours(introspection)))
  const peer = buildClientSchema(await dataOf<IntrospectionQuery>(theirs(introspection)))

  const select = (what: string, query: string, variables?: object): Selection => {
    const translated = toPostgraphile(query, ourSchema, peer)
    const share = translated ? translated.expressed / translated.asked : 0
    return {
      what,
      query,
      ...(variables ? { variables } : {}),
      peer: translated && share > 0 ? theirs(translated.query) : null,
      share,
      goal: share >= COMPARABLE ? 0.8 : null,
    }
  }
  const fills = async (list: string) => {
    const page = await dataOf<Record<string, { edges: unknown[] }>>(ours(`{ ${list}(first: 500) { edges { __typename } } }`))
    return page[list]!.edges.length === 500
  }
  const lists: string[] = []
  for (const list of listsOf(ourSchema)) if (await fills(list).catch(() => false)) lists.push(list)
  const isExpressible = (type: { name: string }, name: string, target: { name: string } | null) => {
    const peerType = peer.getType(type.name)
    return isObjectType(peerType) && peerField(peerType, name, target) !== null
  }

  const drawn: Selection[] = []
  while (drawn.length < DRAWN) {
    const isRestricted = drawn.length % 2 === 0
    const list = lists[Math.floor(random() * lists.length)]!
    const query = drawSelection(ourSchema, list, random, (type, field) => {
      if (!isRestricted || /(Connection|Edge)$|^PageInfo$/.test(type.name)) return true
      const inner = getNamedType(field.type)
      return isExpressible(type, field.name, isObjectType(inner) ? (nodeTypeOf(inner) ?? inner) : null)
    })
    try {
      await dataOf(ours(query, { first: 500 }))
    } catch (error) {
      // A page of 500 with such fields costs too much, or the role does not allow one of them.
      if (!/At most \d+|does not allow/.test(String(error))) throw error
      continue
    }
    print(`drawn ${drawn.length + 1}: ${query}`)
    drawn.push(select(`drawn_${drawn.length + 1}_${list}`, query))
  }
  return [
    select('console_nodes', consoleQuery('Nodes')),
    select('console_nodes_by_name', consoleQuery('Nodes'), { orderBy: { field: 'NAME', direction: 'ASC' } }),
    select('console_runs', consoleQuery('Runs')),
    ...drawn,
  ]
}

async function rows(target: Target): Promise<Row[]> {
  const data = await dataOf<Record<string, unknown>>(target)
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

/** Number of SELECT statements for each page of PAGES. */
async function countStatements(databaseUrl: string, page: (first: number) => Target): Promise<number[]> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    await db.query('create extension if not exists pg_stat_statements')
    const counts: number[] = []
    for (const first of PAGES) {
      await dataOf(page(first))
      await db.query('select pg_stat_statements_reset()')
      for (let i = 0; i < REPEATED; i++) await dataOf(page(first))
      const { rows: found } = await db.query<{ perPage: number }>(
        `select coalesce(sum(calls / $1), 0)::int as "perPage" from pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database()) and query ~* '^\\s*(select|with)'`,
        [REPEATED],
      )
      counts.push(found[0]!.perPage)
    }
    return counts
  } finally {
    await db.end()
  }
}
