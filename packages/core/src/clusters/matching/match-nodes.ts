import { isDeepStrictEqual } from 'node:util'
import type { SlurmNode } from '@muster/slurm'
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { slurmMessages } from '../messages/index.ts'
import { type NodeMatch, slurmClusters, slurmNodeChoices, slurmNodes } from '../tables.ts'

type Candidate = { id: string; name: string; host: string; hostname: string | null; bootedAt: Date | null }
type Match = { nodeId: string | null; matchedBy: NodeMatch | null; matchConflict: string | null; candidateIds: string[] }

const NONE: Match = { nodeId: null, matchedBy: null, matchConflict: null, candidateIds: [] }
const MAX_CANDIDATES = 10
/** slurmd and the probe compute the boot time from the uptime, so the two differ by some seconds. */
const BOOT_TOLERANCE_MS = 5000
const key = (text: string) => text.toLowerCase()
const short = (text: string) => key(text).split('.')[0]!
const isAddress = (text: string) => /^[\d.]+$|:/.test(text)

/**
 * Locks the matches of the tenant until the transaction ends, so that no two clusters get the same node, and no two are the same one.
 * Take it before rows of Slurm nodes are locked.
 */
export async function lockMatches(tx: Tx, ctx: Ctx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`slurm matches of ${ctx.tenantId}`}, 0))`)
}

/**
 * Finds the nodes of the inventory that are the nodes of a cluster: by address, then by host name, then by name; the boot time
 * decides between several. A person's choice (MANUAL) stays. Where several nodes fit, or one belongs to another cluster, none is chosen
 * and the reason is stored. Nodes of a cloud keep their match while they are powered down. The caller holds `lockMatches`.
 */
export async function matchNodes(tx: Tx, ctx: Ctx, clusterId: string): Promise<void> {
  const unchosen = await readUnchosen(tx, clusterId)
  const candidates = await tx
    .select({
      id: computeNodes.id,
      name: computeNodes.name,
      host: computeNodes.host,
      hostname: sql<string | null>`facts->>'hostname'`,
      bootedAt: computeNodes.bootedAt,
    })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isNull(computeNodes.decommissionedAt)))
  const taken = new Map(
    (
      await tx
        .select({ nodeId: slurmNodes.nodeId, cluster: slurmClusters.name })
        .from(slurmNodes)
        .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
        .where(
          and(visibleTo(ctx, slurmNodes), sql`${slurmNodes.clusterId} <> ${clusterId}`, sql`${slurmNodes.nodeId} is not null`),
        )
    ).map(({ nodeId, cluster }) => [nodeId!, cluster]),
  )
  const choices = await tx
    .select({ name: slurmNodeChoices.name, nodeId: slurmNodeChoices.nodeId })
    .from(slurmNodeChoices)
    .where(eq(slurmNodeChoices.clusterId, clusterId))
  const chosen = new Map(choices.map(({ name, nodeId }) => [name, nodeId]))
  const find = finder(candidates)
  const matches = unchosen.map(({ id, name, address, hostname, bootAt, power, ...before }) => {
    const choice = chosen.get(name)
    const match = isFree(choice, taken)
      ? { ...NONE, nodeId: choice, matchedBy: 'MANUAL' as const }
      : resolve(find({ name, address, hostname, bootAt }), taken)
    return { id, before, match, keeps: keepsMatch(power, match, before) }
  })
  const known = new Set(candidates.map(({ id }) => id))
  const used = new Set(matches.flatMap(({ keeps, match }) => (keeps ? [] : (match.nodeId ?? []))))
  const changes = matches.flatMap(({ id, before, match: found, keeps }) => {
    const { nodeId } = before
    const isStillFree = nodeId !== null && known.has(nodeId) && !taken.has(nodeId) && !used.has(nodeId)
    const match = keeps && isStillFree ? before : found
    return isDeepStrictEqual(match, before) ? [] : [{ id, ...match }]
  })
  if (changes.length === 0) return
  await tx.execute(sql`
    update ${slurmNodes} n
    set node_id = c."nodeId", matched_by = c."matchedBy", match_conflict = c."matchConflict", candidate_ids = c."candidateIds"
    from json_to_recordset(${JSON.stringify(changes)}::json)
      as c(id uuid, "nodeId" uuid, "matchedBy" text, "matchConflict" text, "candidateIds" uuid[])
    where n.id = c.id and n.cluster_id = ${clusterId}`)
}

/** Whether somebody chose this node, or none, and no other cluster got it while the Slurm node was absent. */
const isFree = (choice: string | null | undefined, taken: Map<string, string>): choice is string | null =>
  choice === null || (choice !== undefined && !taken.has(choice))

/** Of nodes with State=CLOUD. UP: the node has an address of its own. */
type CloudPower = 'OFF' | 'STARTING' | 'UP'

/**
 * Whether a node of a cloud keeps its last match. While it is off, its address is its name; while it starts, ResumeProgram may set a new
 * one. Only an address decides between them.
 */
const keepsMatch = (power: CloudPower, found: Match, before: Match): boolean =>
  before.nodeId !== null && (power === 'OFF' || (power === 'STARTING' && found.matchedBy !== 'ADDRESS'))

type Reported = Pick<SlurmNode, 'name' | 'address' | 'hostname'> & { bootAt: string | null }

type Unchosen = Reported & Match & { id: string; power: CloudPower }

/** Nodes for which nobody chose. One value, because thousands of rows, or whole reports, take longer to decode. */
async function readUnchosen(tx: Tx, clusterId: string): Promise<Unchosen[]> {
  const { rows } = await tx.execute<{ list: Unchosen[] }>(sql`
    select coalesce(json_agg(n), '[]') as list
    from (
      select id, name, report->>'address' as address, report->>'hostname' as hostname, report->>'bootAt' as "bootAt",
        case
          when not states @> '{CLOUD}' then 'UP'
          when states && '{POWERED_DOWN,POWERING_DOWN}' then 'OFF'
          when states @> '{POWERING_UP}' then 'STARTING'
          else 'UP'
        end as power,
        node_id as "nodeId", matched_by as "matchedBy", match_conflict as "matchConflict", candidate_ids as "candidateIds"
      from ${slurmNodes}
      where cluster_id = ${clusterId} and matched_by is distinct from 'MANUAL'
    ) n`)
  return rows[0]!.list
}

function resolve({ by, found }: { by: NodeMatch | null; found: Candidate[] }, taken: Map<string, string>): Match {
  const [node] = found
  if (!node) return NONE
  if (found.length > 1) {
    const names = found.slice(0, 3).map(({ name }) => name)
    return {
      ...NONE,
      candidateIds: found.slice(0, MAX_CANDIDATES).map(({ id }) => id),
      matchConflict: slurmMessages.severalFit({
        names: `${names.join(', ')}${found.length > 3 ? ` and ${found.length - 3} more` : ''}`,
      }),
    }
  }
  const cluster = taken.get(node.id)
  return cluster
    ? { ...NONE, candidateIds: [node.id], matchConflict: slurmMessages.otherCluster({ node: node.name, name: cluster }) }
    : { ...NONE, nodeId: node.id, matchedBy: by }
}

function finder(candidates: Candidate[]): (node: Reported) => { by: NodeMatch | null; found: Candidate[] } {
  const index = (keysOf: (node: Candidate) => string[]) => {
    const map = new Map<string, Candidate[]>()
    for (const candidate of candidates)
      for (const text of new Set(keysOf(candidate))) map.set(text, [...(map.get(text) ?? []), candidate])
    return map
  }
  const byHost = index(({ host }) => [key(host)])
  const byHostname = index(({ host, hostname }) => [
    ...(isAddress(host) ? [] : [short(host)]),
    ...(hostname ? [short(hostname)] : []),
  ])
  const byName = index(({ name }) => [key(name)])
  return ({ address, hostname, name, bootAt }) => {
    const attempts: [NodeMatch, Candidate[] | undefined][] = [
      ['ADDRESS', byHost.get(key(address))],
      ['HOSTNAME', byHostname.get(short(hostname))],
      ['NAME', byName.get(key(name))],
    ]
    const [by, found = []] = attempts.find(([, nodes]) => nodes) ?? [null, []]
    const [booted, another] = found.length > 1 ? bootedAt(found, bootAt) : []
    return booted && !another ? { by: 'BOOT_TIME', found: [booted] } : { by, found }
  }
}

/** Those that booted at that time. */
function bootedAt(nodes: Candidate[], bootAt: string | null): Candidate[] {
  if (bootAt === null) return []
  const time = new Date(bootAt).getTime()
  return nodes.filter(({ bootedAt }) => bootedAt !== null && Math.abs(bootedAt.getTime() - time) <= BOOT_TOLERANCE_MS)
}
