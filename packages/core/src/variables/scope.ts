import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { AuditAction } from '../audit/index.ts'
import { audit } from '../audit/index.ts'
import { managedClusterOf } from '../groups/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import { actorColumns, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, Forbidden, InvalidInput, NotFound } from '../kernel/errors.ts'
import { Id, multilineText } from '../kernel/input.ts'
import { computeNodes } from '../nodes/tables.ts'
import { changesBetween } from './changes.ts'
import { clusterSecretsBlockedReason, reservedVarsBlockedReason } from './policy.ts'
import { type SecretRefs, type VariableScope, type Vars, variableScopes, variableVersions } from './tables.ts'

/** A scope: a group, a node, or with neither all nodes. */
export const SCOPE_FIELDS = { groupId: Id.nullish(), nodeId: Id.nullish() }
export type ScopeRef = { groupId?: string | null | undefined; nodeId?: string | null | undefined }
export const isOneScope = ({ groupId, nodeId }: ScopeRef): boolean => !groupId || !nodeId
export const ONE_SCOPE = 'set groupId or nodeId, or neither for all nodes'

export const Version = z.int().min(0)
export const Reason = multilineText(1000).nullish()

/** A scope with its current variables; `row` is null while none were ever set. */
export type Scope = { groupId: string | null; nodeId: string | null; label: string; row: VariableScope | null }

/** @param tx inside it the group or node is locked against deletion @throws NotFound */
export async function findScope(db: Db | Tx, ctx: Ctx, { groupId, nodeId }: ScopeRef): Promise<Scope> {
  const of = async (table: typeof nodeGroups | typeof computeNodes, id: string, what: string): Promise<string> => {
    const [row] = await db
      .select({ name: table.name })
      .from(table)
      .where(and(visibleTo(ctx, table), eq(table.id, id)))
      .for('key share')
    if (!row) throw new NotFound(`There is no ${what} ${id}.`)
    return `the ${what} ${row.name}`
  }
  const label = groupId ? await of(nodeGroups, groupId, 'group') : nodeId ? await of(computeNodes, nodeId, 'node') : 'all nodes'
  const [row] = await db
    .select()
    .from(variableScopes)
    .where(
      and(
        visibleTo(ctx, variableScopes),
        groupId ? eq(variableScopes.groupId, groupId) : isNull(variableScopes.groupId),
        nodeId ? eq(variableScopes.nodeId, nodeId) : isNull(variableScopes.nodeId),
      ),
    )
  return { groupId: groupId ?? null, nodeId: nodeId ?? null, label, row: row ?? null }
}

export type Content = { source: string; vars: Vars; secrets: SecretRefs }
type Change = { content: Content; basedOn: number; reason: string | null | undefined; action: AuditAction; id: string }

/**
 * Writes the variables of a scope as its next version, if they are still at the version on which the change is based.
 * @throws Conflict naming who changed them, or the managed cluster that needs a secret; InvalidInput for names that are set twice; Forbidden
 */
export async function saveScope(tx: Tx, ctx: Ctx, scope: Scope, change: Change): Promise<VariableScope> {
  const { content, basedOn, reason, action, id } = change
  if ((scope.row?.version ?? 0) !== basedOn) throw lostRace(scope, basedOn)
  const before = scope.row ?? { vars: {}, secrets: {} }
  const cluster = scope.groupId === null ? null : await managedClusterOf(tx, ctx, scope.groupId)
  const secretsReason = clusterSecretsBlockedReason(ctx.actor, changedClusterSecrets(before.secrets, content.secrets), cluster)
  if (secretsReason) throw new Conflict(secretsReason)
  const blockedReason = reservedVarsBlockedReason(ctx.actor, before.vars, content.vars)
  if (blockedReason) throw new Forbidden(blockedReason)
  const twice = Object.keys(content.secrets).find((name) => Object.hasOwn(content.vars, name))
  if (twice)
    throw new InvalidInput([{ path: 'text', message: `${twice} is a secret variable of ${scope.label}; unset that first` }])
  const now = { ...content, ...actorColumns(ctx, 'updated') }
  const [row] =
    basedOn === 0
      ? await tx
          .insert(variableScopes)
          .values({ id, tenantId: ctx.tenantId, groupId: scope.groupId, nodeId: scope.nodeId, ...now })
          .onConflictDoNothing()
          .returning()
      : await tx
          .update(variableScopes)
          .set({ ...now, version: sql`${variableScopes.version} + 1`, updatedAt: sql`now()` })
          .where(and(visibleTo(ctx, variableScopes), eq(variableScopes.id, id), eq(variableScopes.version, basedOn)))
          .returning()
  // A concurrent change won.
  if (!row) throw lostRace(await findScope(tx, ctx, scope), basedOn)
  await tx.insert(variableVersions).values({
    tenantId: ctx.tenantId,
    scopeId: row.id,
    version: row.version,
    ...content,
    reason: reason ?? null,
    ...createdBy(ctx),
  })
  const changed = changesBetween(before, content).map((each) => each.name)
  await audit(tx, ctx, action, { id: row.id, name: scope.label }, { version: row.version, changed })
  return row
}

/** Secrets of the group of a managed Slurm cluster that exist and change. */
const changedClusterSecrets = (before: SecretRefs, after: SecretRefs): string[] =>
  ['slurm_munge_key'].filter((name) => name in before && before[name] !== after[name])

function lostRace({ row, label }: Scope, basedOn: number): Conflict {
  if (!row) return new Conflict(`${label} has no variables yet: base the change on version 0, not on ${basedOn}.`)
  return new Conflict(
    `${row.updatedByName} changed the variables of ${label} at ${row.updatedAt.toISOString()}: they are at version ${row.version}, your change is based on ${basedOn}. Load them again and repeat your change.`,
  )
}
