import { auditPermissions, installationAuditPermissions, verifyAuditChain } from '@muster/core/audit'
import { authorize } from '@muster/core/context'
import { isOneOf, visibleTo } from '@muster/core/db'
import { auditActions, schema } from '@muster/core/registry'
import { and, eq, gte, isNull, lt, or, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { MAX_COST } from '../../limits.ts'
import { callerKey } from '../../sign-in/caller.ts'
import { PAGED } from '../shared/connections.ts'
import { contains } from '../shared/contains.ts'
import { parseId, rowIdIfGiven } from '../shared/ids.ts'
import { AuditActorKind, AuditChannel, AuditOutcome } from './enums.ts'
import { AuditChainVerification, AuditEntry, auditEntryConnection } from './types.ts'

const { auditEntries } = schema

const verifications = new Map<string, Promise<unknown>>()

/** Runs one verification of each caller at a time: they use the processor of the API. */
async function inTurn<T>(key: string, verify: () => Promise<T>): Promise<T> {
  const turn = (verifications.get(key) ?? Promise.resolve()).then(verify, verify)
  verifications.set(key, turn)
  try {
    return await turn
  } finally {
    if (verifications.get(key) === turn) verifications.delete(key)
  }
}

const OF_INSTALLATION =
  'Whether to read the entries of the installation instead of the tenant’s, such as sign-ins with unknown email addresses. Requires the permission `installation_audit:read`.'

const AuditFilter = builder.inputType('AuditFilter', {
  description: 'Conditions on audit entries; an entry must meet all of them.',
  fields: (t) => ({
    action: t.stringList({
      description: 'One of these actions, such as `job_run.cancel`; `job_run` means all actions on runs; at most 100.',
    }),
    outcome: t.field({ type: [AuditOutcome], description: 'One of these outcomes; at most 500.' }),
    actorKind: t.field({ type: [AuditActorKind], description: 'One of these kinds of actors; at most 500.' }),
    actor: t.string({ description: 'The name of the actor contains this text, ignoring case.' }),
    channel: t.field({ type: [AuditChannel], description: 'Through one of these channels; at most 500.' }),
    address: t.string({ description: 'From this network address.' }),
    objectId: t.id({ description: 'Concerns the object with this ID.' }),
    runId: t.id({ description: 'On behalf of this run, or concerns it.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Created at this time or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created before this time.' }),
    text: t.string({
      description: 'The action, the actor, the object, the reason, the error or the address contains this text, ignoring case.',
    }),
    ofInstallation: t.boolean({ description: OF_INSTALLATION }),
  }),
})

function conditions(filter: typeof AuditFilter.$inferInput | null | undefined, e: typeof auditEntries) {
  if (!filter) return undefined
  const { action, outcome, actorKind, actor, channel, address, objectId, createdAfter, createdBefore, text } = filter
  const runId = rowIdIfGiven('JobRun', filter.runId)
  return and(
    action
      ? sql`(${isOneOf(e.action, action, 'text')} or split_part(${e.action}, '.', 1) = any(${sql.param(action)}::text[]))`
      : undefined,
    outcome ? isOneOf(e.outcome, outcome, 'text') : undefined,
    actorKind ? isOneOf(e.actorKind, actorKind, 'text') : undefined,
    actor ? contains(e.actorName, actor) : undefined,
    channel ? isOneOf(e.channel, channel, 'text') : undefined,
    address ? eq(e.address, address) : undefined,
    objectId ? sql`${e.objectId} = ${parseId(objectId)?.id ?? null}::uuid` : undefined,
    runId ? or(eq(e.runId, runId), eq(e.objectId, runId)) : undefined,
    createdAfter ? gte(e.createdAt, createdAfter) : undefined,
    createdBefore ? lt(e.createdAt, createdBefore) : undefined,
    text
      ? or(...[e.action, e.actorName, e.objectName, e.reason, e.error, e.address].map((column) => contains(column, text)))
      : undefined,
  )
}

type OfInstallation = boolean | null | undefined
/** The database that shows the entries. @throws Forbidden */
function readableDb({ ctx, deps }: ApiContext, ofInstallation: OfInstallation) {
  authorize(ctx, ofInstallation ? installationAuditPermissions.read : auditPermissions.read)
  return ofInstallation ? deps.runtime.db : ctx.db
}

builder.queryFields((t) => ({
  auditEntries: t.drizzleConnection(
    {
      type: AuditEntry,
      description: 'The audit log, newest first. Requires the permission `audit:read`.',
      authScopes: { permission: auditPermissions.read },
      args: {
        filter: t.arg({ type: AuditFilter, description: 'Conditions. Default: all entries.' }),
      },
      ...PAGED,
      totalCount: (_root, { filter }, context) => {
        const scope = filter?.ofInstallation ? isNull(auditEntries.tenantId) : visibleTo(context.ctx, auditEntries)
        return readableDb(context, filter?.ofInstallation).$count(auditEntries, and(scope, conditions(filter, auditEntries)))
      },
      resolve: (query, _root, { filter }, context) => {
        const tenantId = filter?.ofInstallation ? ({ isNull: true } as const) : context.ctx.tenantId
        return readableDb(context, filter?.ofInstallation).query.auditEntries.findMany(
          query({
            where: { tenantId, RAW: (e) => conditions(filter, e) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        )
      },
    },
    ...auditEntryConnection,
  ),
  auditActions: t.stringList({
    description: 'All actions of the audit log, for its filter; at most 500.',
    authScopes: { permission: auditPermissions.read },
    resolve: () =>
      Object.values(auditActions as Record<string, Record<string, { name: string }>>)
        .flatMap((actions) => Object.values(actions).map(({ name }) => name))
        .filter((name, i, all) => all.indexOf(name) === i)
        .sort(),
  }),
  auditChain: t.field({
    type: AuditChainVerification,
    description:
      'Verifies up to 50,000 entries of the audit log against their hashes and signed checkpoints, oldest first. One per operation; concurrent ones of a caller wait for each other. Requires the permission `audit:read`.',
    authScopes: { permission: auditPermissions.read },
    // More than half of the limit: one per operation.
    complexity: MAX_COST / 2 + 1,
    args: {
      afterSeq: t.arg({
        type: 'BigInt',
        description: 'Position after which the verification starts. Default: the oldest entry.',
      }),
      expectedSeq: t.arg({ type: 'BigInt', description: '`lastSeq` of an earlier verification; requires `expectedHash`.' }),
      expectedHash: t.arg.string({ description: '`lastHash` of the same verification. A mismatch reveals a replaced chain.' }),
      ofInstallation: t.arg.boolean({ description: OF_INSTALLATION }),
    },
    resolve: (_root, { afterSeq, expectedSeq, expectedHash, ofInstallation }, { ctx, deps, caller }) =>
      inTurn(callerKey(caller, ''), () =>
        verifyAuditChain(ctx, {
          installation: ofInstallation ? deps.runtime.db : undefined,
          after: afterSeq,
          expected: typeof expectedSeq === 'number' && expectedHash ? { seq: expectedSeq, hash: expectedHash } : null,
        }),
      ),
  }),
}))
