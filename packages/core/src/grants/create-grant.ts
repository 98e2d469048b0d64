import { and, eq } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { accessChanged, assertGrantable, memberPermissions, RoleName } from '../access/index.ts'
import { members, users } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { credentials } from '../credentials/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { Id, Ids } from '../kernel/input.ts'
import { perNodePermissions } from '../kernel/permissions.ts'
import { jobTemplates } from '../templates/tables.ts'
import { grantAudit } from './audit-actions.ts'
import { type GrantRow, grants } from './tables.ts'

const MAX_GRANTS = 50
const Selection = Ids.refine(
  (ids) => ids.length > 0 && ids.length <= 100,
  'must name at least 1 and at most 100; omit it for all',
).nullish()

export const CreateGrantInput = z.object({
  memberId: Id,
  role: RoleName,
  nodeGroupId: Id,
  /** Null: all. */
  jobTemplateIds: Selection,
  credentialIds: Selection,
  idempotencyKey: IdempotencyKey,
})

/**
 * Gives a member those permissions of a role that concern nodes, for the nodes of a group, now and later.
 * @throws Forbidden the role includes more than the caller holds in the whole tenant
 * @throws NotFound the member or group; InvalidInput at role, jobTemplateIds or credentialIds; Conflict the member has 50 grants
 */
export async function createGrant(ctx: Ctx, input: z.input<typeof CreateGrantInput>): Promise<GrantRow> {
  authorize(ctx, memberPermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateGrantInput, input)
  const { memberId, nodeGroupId: groupId } = given
  const request = { verb: 'createGrant', key: idempotencyKey, input: given, result: oneRow(grants) }
  return idempotent(ctx, request, async (tx, ctx) => {
    const role = await assertGrantable(tx, ctx, memberPermissions.write, given.role)
    const perNode = perNodePermissions()
    if (![...role.permissions].some((name) => perNode.has(name)))
      throw new InvalidInput([{ path: 'role', message: `${role.name} includes no permission that concerns nodes` }])
    const [member] = await tx
      .select({ userId: members.userId, name: users.name })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(and(visibleTo(ctx, members), eq(members.id, memberId)))
      .for('update', { of: members })
    if (!member) throw new NotFound(`There is no member ${memberId}.`)
    if ((await tx.$count(grants, eq(grants.memberId, memberId))) >= MAX_GRANTS)
      throw new Conflict(`${member.name} has ${MAX_GRANTS} grants, the maximum. Delete one, or grant a group above.`)
    const [group] = await tx
      .select({ name: nodeGroups.name })
      .from(nodeGroups)
      .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, groupId)))
      .for('key share')
    if (!group) throw new NotFound(`There is no group ${groupId}.`)
    const templateIds = await existing(tx, ctx, jobTemplates, 'jobTemplateIds', given.jobTemplateIds)
    const credentialIds = await existing(tx, ctx, credentials, 'credentialIds', given.credentialIds)
    const [grant] = await tx
      .insert(grants)
      .values({ tenantId: ctx.tenantId, memberId, role: role.name, groupId, templateIds, credentialIds, ...createdBy(ctx) })
      .returning()
    const details = { role: role.name, group: group.name, templateIds, credentialIds }
    await audit(tx, ctx, grantAudit.create, { id: grant!.id, name: member.name }, details)
    ctx.notify(accessChanged({ id: member.userId, tenantId: ctx.tenantId }))
    return grant!
  })
}

type Named = PgTable & { id: AnyPgColumn; tenantId: AnyPgColumn }

/** The IDs, if all exist in the tenant. @throws InvalidInput at `path` */
async function existing(
  tx: Tx,
  ctx: Ctx,
  table: Named,
  path: string,
  ids: string[] | null | undefined,
): Promise<string[] | null> {
  if (!ids) return null
  const rows = await tx
    .select({ id: table.id })
    .from(table as PgTable)
    .where(and(visibleTo(ctx, table), isOneOf(table.id, ids)))
  const known = new Set(rows.map(({ id }) => id))
  const missing = ids.findIndex((id) => !known.has(id))
  if (missing >= 0) throw new InvalidInput([{ path: `${path}.${missing}`, message: `does not exist: ${ids[missing]}` }])
  return ids
}
