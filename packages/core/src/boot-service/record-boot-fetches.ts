import { and, isNull, sql } from 'drizzle-orm'
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
import type { FetchRecord, RecordedFetch } from './fetch-record.ts'
import { type IssuedToken, issueTokens } from './issue-tokens.ts'
import { bootPermissions } from './permissions.ts'
import { type OpenAttempt, planAttempts } from './plan-attempts.ts'
import { bootAttempts, bootFetches, bootStageTimes, bootTokens } from './tables.ts'

const TOKEN_VALID_SECONDS = 3600

/** What content comes from: the profile that boots, and those that are merged with it. */
export const originOf = (profile: ResolvedBootProfile | null) => ({
  profile: profile?.name ?? null,
  profileVersion: profile?.version ?? null,
  mergedWith: (profile?.chain ?? []).filter(({ id }) => id !== profile?.id).map(({ name, version }) => `${name} v${version}`),
})

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
    const [locked] = await tx
      .select({ now: sql<string>`now()::text` })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
      .orderBy(computeNodes.id)
      .for('no key update')
    // Without a row the nodes were deleted meanwhile, and foreign keys reject the fetches.
    const now = locked ? new Date(locked.now) : new Date()
    const attempts = await readLatestAttempts(tx, ctx, nodeIds)
    const plan = planAttempts(fetches, attempts, now)
    if (plan.abandoned.length > 0) await abandon(tx, plan.abandoned)
    if (plan.begun.length > 0) await insertAttempts(tx, ctx, plan.begun)
    if (plan.named.length > 0) await nameAttempts(tx, plan.named)
    const { results, issued, suspicious } = issueTokens(ctx, fetches, plan.of)
    await insertRecords(tx, ctx, { stages: plan.stages, tokens: issued, fetches: fetchRows(fetches, results) })
    const audited = issued.map(({ id, name, mac, address }) => ({ id, name, details: { mac, address } }))
    if (audited.length > 0) await audit(tx, ctx, bootAudit.issueToken, audited)
    for (const event of await raiseAlerts(tx, suspicious)) ctx.notify(event)
    for (const id of nodeIds) ctx.notify(nodeBootChanged({ id, tenantId: ctx.tenantId }))
    return results
  })
}

/** The last attempt of each node, with the stages that it reached. */
async function readLatestAttempts(tx: Tx, ctx: Ctx, nodeIds: string[]): Promise<Map<string, OpenAttempt>> {
  type Row = Omit<OpenAttempt, 'stages' | 'startedAt' | 'finishedAt' | 'heartbeatAt'> & {
    stages: Record<string, string>
    startedAt: string
    finishedAt: string | null
    heartbeatAt: string | null
  }
  const { rows } = await tx.execute<Row>(sql`
    select a.id, a.node_id as "nodeId", a.cause, a.mac, a.profile, a.profile_version as "profileVersion",
      a.started_at::text as "startedAt", a.finished_at::text as "finishedAt", h.received_at::text as "heartbeatAt",
      exists (select from ${bootTokens} t where t.attempt_id = a.id) as "hasToken",
      coalesce((select jsonb_object_agg(s.stage, s.reached_at) from ${bootStageTimes} s where s.attempt_id = a.id), '{}') as stages
    from unnest(${sql.param(nodeIds)}::uuid[]) as node(id)
    -- Without "offset 0", Postgres may search the attempts of all nodes backwards for the last one of this node.
    cross join lateral (select * from (select * from ${bootAttempts} a where a.tenant_id = ${ctx.tenantId} and a.node_id = node.id
      offset 0) own order by own.id desc limit 1) a
    left join ${agentHeartbeats} h on h.node_id = node.id`)
  const dateOf = (text: string | null) => (text === null ? null : new Date(text))
  return new Map(
    rows.map(({ stages, startedAt, finishedAt, heartbeatAt, ...row }) => [
      row.nodeId,
      {
        ...row,
        startedAt: new Date(startedAt),
        finishedAt: dateOf(finishedAt),
        heartbeatAt: dateOf(heartbeatAt),
        stages: new Map(Object.entries(stages).map(([stage, reachedAt]) => [stage, new Date(reachedAt)])),
      },
    ]),
  )
}

// One JSON parameter for any number of rows: building a statement with a parameter per value takes longer than executing it.

const insertAttempts = (tx: Tx, ctx: Ctx, attempts: OpenAttempt[]) =>
  tx.execute(sql`insert into ${bootAttempts} (id, tenant_id, node_id, cause, mac, profile, profile_version, started_at)
    select id, ${ctx.tenantId}, "nodeId", cause, mac, profile, "profileVersion", "startedAt"
    from jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) as g(id uuid, "nodeId" uuid, cause text, mac text,
      profile text, "profileVersion" int, "startedAt" timestamptz)`)

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

type FetchRow = ReturnType<typeof fetchRows>[number]

/** Equal fetches are one row: one statement cannot upsert a row twice. */
function fetchRows(fetches: readonly FetchRecord[], results: RecordedFetch[]) {
  const rowOf = ({ nodeId, kind, hash, profileVersion, address, ...fetch }: FetchRecord, i: number) => {
    const { attemptId, token, refusal } = results[i]!
    const profile = fetch.profile && [...(fetch.mergedWith ?? []), fetch.profile].join(' + ')
    const values = { id: newId(), nodeId, attemptId, kind, hash, profile, version: profileVersion, address, refusal }
    return { ...values, hasToken: token !== null, count: 1 }
  }
  const rows = new Map<string, ReturnType<typeof rowOf>>()
  for (const [i, fetch] of fetches.entries()) {
    const row = rowOf(fetch, i)
    const key = `${row.attemptId} ${row.kind} ${row.hash} ${row.hasToken}`
    rows.set(key, { ...row, count: (rows.get(key)?.count ?? 0) + 1 })
  }
  return [...rows.values()]
}

/** Inserts them with one statement. Attempts must exist, because row-level security looks them up. */
const insertRecords = (
  tx: Tx,
  ctx: Ctx,
  { stages, tokens, fetches }: { stages: (typeof bootStageTimes.$inferInsert)[]; tokens: IssuedToken[]; fetches: FetchRow[] },
) =>
  tx.execute(sql`with reached as (insert into ${bootStageTimes} (attempt_id, stage, reached_at) select "attemptId", stage, "reachedAt"
      from jsonb_to_recordset(${JSON.stringify(stages)}::jsonb) as g("attemptId" uuid, stage text, "reachedAt" timestamptz)
      on conflict do nothing),
    issued as (insert into ${bootTokens} (attempt_id, tenant_id, node_id, mac, hash, expires_at)
      select "attemptId", ${ctx.tenantId}, id, mac, hash, now() + make_interval(secs => ${TOKEN_VALID_SECONDS})
      from jsonb_to_recordset(${JSON.stringify(tokens)}::jsonb) as g("attemptId" uuid, id uuid, mac text, hash text))
    insert into ${bootFetches} as f
      (id, tenant_id, node_id, attempt_id, kind, hash, profile, profile_version, address, refusal, has_token, count)
    select id, ${ctx.tenantId}, "nodeId", "attemptId", kind, hash, profile, version, address, refusal, "hasToken", count
    from jsonb_to_recordset(${JSON.stringify(fetches)}::jsonb) as g(id uuid, "nodeId" uuid, "attemptId" uuid, kind text,
      hash text, profile text, version int, address text, refusal text, "hasToken" boolean, count int)
    on conflict (attempt_id, kind, hash, has_token) do update
      set count = f.count + excluded.count, last_at = now(), address = excluded.address, refusal = excluded.refusal`)
