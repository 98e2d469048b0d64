import { createHash, randomBytes } from 'node:crypto'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { agents } from '../agents/tables.ts'
import { raiseAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import type { ResolvedBootProfile } from '../boot-profiles/index.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import { bootAudit } from './audit-actions.ts'
import { nodeBootChanged } from './change-events.ts'
import { bootPermissions } from './permissions.ts'
import type { BootStage } from './stages.ts'
import {
  type BootAttempt,
  type BootCause,
  type BootFetchKind,
  bootAttempts,
  bootFetches,
  bootStageTimes,
  bootTokens,
} from './tables.ts'

/** A boot script that is fetched again within this time, before anything else happened, belongs to the same boot. */
const SAME_BOOT_MS = 120_000
const TOKEN_VALID_SECONDS = 3600

export type FetchRecord = {
  nodeId: string
  nodeName: string
  kind: BootFetchKind
  /** SHA-256 of the content without a token. */
  hash: string
  profile: string | null
  profileVersion: number | null
  /** Parents and additions of which the content is merged, too: `site v2`. */
  mergedWith?: string[]
  address: string | null
  /** The MAC with which a boot script was requested. */
  mac?: string | null
  /** The script asked for this request after a failure. */
  isRetry?: boolean
  /** The content has a place for a token. `reason`: why this connection must not carry one. */
  token?: { reason: string | null }
}

/** What content comes from: the profile that boots, and those that are merged with it. */
export const originOf = (profile: ResolvedBootProfile | null) => ({
  profile: profile?.name ?? null,
  profileVersion: profile?.version ?? null,
  mergedWith: (profile?.chain ?? []).filter(({ id }) => id !== profile?.id).map(({ name, version }) => `${name} v${version}`),
})

export type RecordedFetch = { attemptId: string; token: string | null; refusal: string | null }

export const hashBootToken = (token: string): string => createHash('sha256').update(token).digest('hex')

type OpenAttempt = BootAttempt & { stages: Map<string, Date> }

/**
 * Records what nodes fetch, with the same number of statements for any number of fetches. A boot script begins an attempt, unless it
 * is a retry of the one in progress. Issues the token of an attempt at most once.
 * @returns one result per fetch, in their order
 */
export async function recordBootFetches(ctx: Ctx, fetches: readonly FetchRecord[]): Promise<RecordedFetch[]> {
  authorize(ctx, bootPermissions.serve)
  if (fetches.length === 0) return []
  return inTransaction(ctx, async (tx, ctx) => {
    const nodeIds = [...new Set(fetches.map(({ nodeId }) => nodeId))]
    // Locks in ID order, so that concurrent calls do not deadlock, and one of two first requests begins the attempt.
    await tx
      .select({ id: computeNodes.id })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
      .orderBy(computeNodes.id)
      .for('no key update')
    const now = await readNow(tx)
    const attempts = await readLatestAttempts(tx, ctx, nodeIds)
    const plan = planAttempts(ctx, fetches, attempts, now)
    if (plan.abandoned.length > 0) await abandon(tx, plan.abandoned)
    if (plan.begun.length > 0) await insertAttempts(tx, plan.begun)
    if (plan.named.length > 0) await nameAttempts(tx, plan.named)
    if (plan.stages.length > 0) await insertStages(tx, plan.stages)
    const tokens = await issueTokens(
      tx,
      ctx,
      fetches.flatMap((fetch, i) => (fetch.token ? [{ ...fetch, attempt: plan.of[i]!, at: i, reason: fetch.token.reason }] : [])),
    )
    const results = fetches.map((_, i) => ({
      attemptId: plan.of[i]!.id,
      token: tokens.get(i)?.token ?? null,
      refusal: tokens.get(i)?.refusal ?? null,
    }))
    await upsertFetches(tx, ctx, fetches, results)
    for (const id of nodeIds) ctx.notify(nodeBootChanged({ id, tenantId: ctx.tenantId }))
    return results
  })
}

async function readNow(tx: Tx): Promise<Date> {
  const { rows } = await tx.execute<{ now: string }>(sql`select now()::text as now`)
  return new Date(rows[0]!.now)
}

/** The last attempt of each node, with the stages that it reached. */
export async function readLatestAttempts(tx: Tx, ctx: Ctx, nodeIds: string[]): Promise<Map<string, OpenAttempt>> {
  const rows = await tx
    .selectDistinctOn([bootAttempts.nodeId])
    .from(bootAttempts)
    .where(and(visibleTo(ctx, bootAttempts), isOneOf(bootAttempts.nodeId, nodeIds)))
    .orderBy(bootAttempts.nodeId, sql`${bootAttempts.id} desc`)
  const attempts = new Map(rows.map((row) => [row.nodeId, { ...row, stages: new Map<string, Date>() }]))
  if (rows.length === 0) return attempts
  const byId = new Map([...attempts.values()].map((attempt) => [attempt.id, attempt]))
  for (const { attemptId, stage, reachedAt } of await tx
    .select()
    .from(bootStageTimes)
    .where(isOneOf(bootStageTimes.attemptId, [...byId.keys()])))
    byId.get(attemptId)!.stages.set(stage, reachedAt)
  return attempts
}

/** Assigns each fetch to an attempt: the last of its node, or a new one. */
function planAttempts(ctx: Ctx, fetches: readonly FetchRecord[], attempts: Map<string, OpenAttempt>, now: Date) {
  const begun: OpenAttempt[] = []
  const abandoned: string[] = []
  const named: OpenAttempt[] = []
  const stages: (typeof bootStageTimes.$inferInsert)[] = []
  const of = fetches.map((fetch) => {
    const current = attempts.get(fetch.nodeId)
    const attempt = current && belongsTo(fetch, current, now) ? current : newAttempt(ctx, fetch, now)
    if (attempt !== current) {
      if (current && !current.finishedAt) {
        if (begun.includes(current)) return current
        abandoned.push(current.id)
      }
      begun.push(attempt)
      attempts.set(fetch.nodeId, attempt)
    }
    const stage = STAGE_OF[fetch.kind]
    if (stage && !attempt.stages.has(stage)) {
      attempt.stages.set(stage, now)
      stages.push({ attemptId: attempt.id, stage, reachedAt: now })
      if (fetch.kind === 'BOOT_SCRIPT' && attempt === current) {
        Object.assign(attempt, { mac: fetch.mac ?? null, profile: fetch.profile, profileVersion: fetch.profileVersion })
        named.push(attempt)
      }
    }
    return attempt
  })
  return { begun, abandoned, named, stages, of }
}

const STAGE_OF: Partial<Record<BootFetchKind, BootStage>> = {
  BOOT_SCRIPT: 'BOOT_SCRIPT',
  META_DATA: 'CLOUD_INIT',
  USER_DATA: 'CLOUD_INIT',
  VENDOR_DATA: 'CLOUD_INIT',
  NETWORK_CONFIG: 'CLOUD_INIT',
  PHONE_HOME: 'PHONE_HOME',
}

function belongsTo({ kind, isRetry }: FetchRecord, { finishedAt, stages }: OpenAttempt, now: Date): boolean {
  if (kind !== 'BOOT_SCRIPT') return true
  if (finishedAt) return false
  const isBooted = [...stages.keys()].some((stage) => stage !== 'POWER_ON' && stage !== 'BOOT_SCRIPT')
  const fetchedAt = stages.get('BOOT_SCRIPT')
  return !isBooted && (!fetchedAt || isRetry === true || now.getTime() - fetchedAt.getTime() < SAME_BOOT_MS)
}

function newAttempt(ctx: Ctx, { nodeId, kind, mac, profile, profileVersion }: FetchRecord, now: Date): OpenAttempt {
  const cause: BootCause = kind === 'BOOT_SCRIPT' ? 'BOOT_SCRIPT' : 'CLOUD_INIT'
  const facts = { mac: mac ?? null, profile, profileVersion, startedAt: now, finishedAt: null, isAbandoned: false }
  return { id: newId(), tenantId: ctx.tenantId, nodeId, cause, ...facts, state: 'BOOTING', stages: new Map() }
}

// One JSON parameter for any number of rows: building a statement with a parameter per value takes longer than executing it.

const insertAttempts = (tx: Tx, attempts: OpenAttempt[]) =>
  tx.execute(sql`insert into ${bootAttempts} (id, tenant_id, node_id, cause, mac, profile, profile_version, started_at)
    select id, "tenantId", "nodeId", cause, mac, profile, "profileVersion", "startedAt"
    from jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) as g(id uuid, "tenantId" uuid, "nodeId" uuid, cause text, mac text,
      profile text, "profileVersion" int, "startedAt" timestamptz)`)

const insertStages = (tx: Tx, stages: (typeof bootStageTimes.$inferInsert)[]) =>
  tx.execute(sql`insert into ${bootStageTimes} (attempt_id, stage, reached_at) select "attemptId", stage, "reachedAt"
    from jsonb_to_recordset(${JSON.stringify(stages)}::jsonb) as g("attemptId" uuid, stage text, "reachedAt" timestamptz)
    on conflict do nothing`)

const abandon = (tx: Tx, ids: string[]) =>
  tx
    .update(bootAttempts)
    .set({ finishedAt: sql`now()`, isAbandoned: true })
    .where(and(isOneOf(bootAttempts.id, ids), isNull(bootAttempts.finishedAt)))

/** Stores what the boot script of attempts tells that began when the node was switched on. */
const nameAttempts = (tx: Tx, attempts: OpenAttempt[]) => {
  const given = JSON.stringify(
    attempts.map(({ id, mac, profile, profileVersion }) => ({ id, mac, profile, version: profileVersion })),
  )
  return tx.execute(sql`update ${bootAttempts} a set mac = g.mac, profile = g.profile, profile_version = g.version
    from jsonb_to_recordset(${given}::jsonb) as g(id uuid, mac text, profile text, version int) where a.id = g.id`)
}

type TokenRequest = Omit<FetchRecord, 'token'> & { attempt: OpenAttempt; at: number; reason: string | null }

/**
 * Issues the token of attempts that have none. Refuses it to a second request and to a node whose agent still sends heartbeats: one of
 * the two is another machine.
 */
async function issueTokens(tx: Tx, ctx: Ctx, requests: TokenRequest[]) {
  const results = new Map<number, { token: string | null; refusal: string | null }>()
  const refuse = (at: number, refusal: string) => results.set(at, { token: null, refusal })
  const heartbeats = await readHeartbeats(tx, ctx, requests)
  const suspicious: TokenRequest[] = []
  const wanted: (TokenRequest & { token: string })[] = []
  const known = new Set<string>()
  const issued = new Set(
    requests.length === 0
      ? []
      : (
          await tx
            .select({ id: bootTokens.attemptId })
            .from(bootTokens)
            .where(isOneOf(bootTokens.attemptId, [...new Set(requests.map(({ attempt }) => attempt.id))]))
        ).map(({ id }) => id),
  )
  for (const request of requests) {
    const { attempt, at, reason, nodeId } = request
    const heartbeatAt = heartbeats.get(nodeId)
    if (issued.has(attempt.id) || known.has(attempt.id)) {
      refuse(at, 'the token of this boot was already sent')
      suspicious.push(request)
    } else if (heartbeatAt && heartbeatAt > attempt.startedAt) {
      refuse(at, 'the agent of the node still sends heartbeats')
      suspicious.push(request)
    } else if (reason) refuse(at, reason)
    else if (!attempt.mac) refuse(at, 'the boot script was not fetched with a MAC of the node')
    else if (attempt.finishedAt) refuse(at, 'the boot has ended')
    else {
      known.add(attempt.id)
      wanted.push({ ...request, token: `msb_${randomBytes(32).toString('base64url')}` })
    }
  }
  if (wanted.length > 0) {
    await tx.insert(bootTokens).values(
      wanted.map(({ attempt, nodeId, token }) => ({
        attemptId: attempt.id,
        tenantId: ctx.tenantId,
        nodeId,
        mac: attempt.mac!,
        hash: hashBootToken(token),
        expiresAt: sql`now() + make_interval(secs => ${TOKEN_VALID_SECONDS})`,
      })),
    )
    for (const { at, token } of wanted) results.set(at, { token, refusal: null })
    await audit(
      tx,
      ctx,
      bootAudit.issueToken,
      wanted.map(({ nodeId, nodeName, attempt, address }) => ({
        id: nodeId,
        name: nodeName,
        details: { mac: attempt.mac, address },
      })),
    )
  }
  const alerts = suspicious.map(({ nodeId, address, at }) => ({
    tenantId: ctx.tenantId,
    nodeId,
    kind: 'boot_token_refused' as const,
    evidence: { reason: results.get(at)!.refusal!, address },
  }))
  for (const event of await raiseAlerts(tx, alerts)) ctx.notify(event)
  return results
}

/** When the last heartbeat of nodes arrived. */
async function readHeartbeats(tx: Tx, ctx: Ctx, requests: TokenRequest[]): Promise<Map<string, Date | null>> {
  if (requests.length === 0) return new Map()
  const rows = await tx
    .select({ nodeId: agents.nodeId, receivedAt: agentHeartbeats.receivedAt })
    .from(agents)
    .innerJoin(agentHeartbeats, eq(agentHeartbeats.nodeId, agents.nodeId))
    .where(
      and(
        visibleTo(ctx, agents),
        isOneOf(
          agents.nodeId,
          requests.map(({ nodeId }) => nodeId),
        ),
      ),
    )
  return new Map(rows.map(({ nodeId, receivedAt }) => [nodeId, receivedAt]))
}

async function upsertFetches(tx: Tx, ctx: Ctx, fetches: readonly FetchRecord[], results: RecordedFetch[]): Promise<void> {
  const rows = new Map<string, Record<string, unknown> & { count: number }>()
  for (const [i, { nodeId, kind, hash, profileVersion, address, ...fetch }] of fetches.entries()) {
    const profile = fetch.profile && [...(fetch.mergedWith ?? []), fetch.profile].join(' + ')
    const { attemptId, token, refusal } = results[i]!
    const key = `${attemptId} ${kind} ${hash} ${token !== null}`
    const values = { id: newId(), nodeId, attemptId, kind, hash, profile, version: profileVersion, address, refusal }
    // One statement cannot upsert a row twice.
    rows.set(key, { ...values, hasToken: token !== null, count: (rows.get(key)?.count ?? 0) + 1 })
  }
  await tx.execute(sql`insert into ${bootFetches} as f
      (id, tenant_id, node_id, attempt_id, kind, hash, profile, profile_version, address, refusal, has_token, count)
    select id, ${ctx.tenantId}, "nodeId", "attemptId", kind, hash, profile, version, address, refusal, "hasToken", count
    from jsonb_to_recordset(${JSON.stringify([...rows.values()])}::jsonb) as g(id uuid, "nodeId" uuid, "attemptId" uuid, kind text,
      hash text, profile text, version int, address text, refusal text, "hasToken" boolean, count int)
    on conflict (attempt_id, kind, hash, has_token) do update
      set count = f.count + excluded.count, last_at = now(), address = excluded.address, refusal = excluded.refusal`)
}
