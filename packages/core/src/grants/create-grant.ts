import { and, eq } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { accessChanged, assertGrantable, memberPermissions, RoleName } from '../access/index.ts'
import { members, users } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { type SlurmCluster, slurmClusters, slurmPartitions } from '../clusters/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { Id, Ids, singleLineText } from '../kernel/input.ts'
import { perClusterPermissions, perNodePermissions } from '../kernel/permissions.ts'
import { jobTemplates } from '../templates/tables.ts'
import { grantAudit } from './audit-actions.ts'
import { type GrantRow, grants } from './tables.ts'

const MAX_GRANTS = 50
const Selection = Ids.refine(
  (ids) => ids.length > 0 && ids.length <= 100,
  'must name at least 1 and at most 100; omit it for all',
).nullish()

const ofOther = (other: string) => `applies only with ${other}`

export const CreateGrantInput = z
  .object({
    memberId: Id,
    role: RoleName,
    nodeGroupId: Id.nullish(),
    /** Null: all. */
    jobTemplateIds: Selection,
    credentialIds: Selection,
    slurmClusterId: Id.nullish(),
    /** Null: the whole cluster. */
    partitions: z
      .array(singleLineText(255))
      .min(1, 'must name at least 1; omit it for the whole cluster')
      .max(100, 'at most 100')
      .nullish(),
    idempotencyKey: IdempotencyKey,
  })
  .refine(({ nodeGroupId, slurmClusterId }) => !nodeGroupId !== !slurmClusterId, {
    path: ['nodeGroupId'],
    message: 'or slurmClusterId is required, not both',
  })
  .refine(({ partitions, slurmClusterId }) => !partitions || slurmClusterId, {
    path: ['partitions'],
    message: ofOther('slurmClusterId'),
  })
  .refine(({ jobTemplateIds, nodeGroupId }) => !jobTemplateIds || nodeGroupId, {
    path: ['jobTemplateIds'],
    message: ofOther('nodeGroupId'),
  })
  .refine(({ credentialIds, nodeGroupId }) => !credentialIds || nodeGroupId, {
    path: ['credentialIds'],
    message: ofOther('nodeGroupId'),
  })

/**
 * Gives a member those permissions of a role that concern nodes, for the nodes of a group, now and later. Or those that concern Slurm
 * clusters, for a cluster or some of its partitions.
 * @throws Forbidden the role includes more than the caller holds in the whole tenant
 * @throws NotFound the member, group or cluster; InvalidInput at role, jobTemplateIds, credentialIds or partitions; Conflict the member
 * has 50 grants
 */
export async function createGrant(ctx: Ctx, input: z.input<typeof CreateGrantInput>): Promise<GrantRow> {
  authorize(ctx, memberPermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateGrantInput, input)
  const { memberId } = given
  const request = { verb: 'createGrant', key: idempotencyKey, input: given, result: oneRow(grants) }
  return idempotent(ctx, request, async (tx, ctx) => {
    const role = await assertGrantable(tx, ctx, memberPermissions.write, given.role)
    const [grantable, what] = given.nodeGroupId ? [perNodePermissions(), 'nodes'] : [perClusterPermissions(), 'Slurm clusters']
    if (![...role.permissions].some((name) => grantable.has(name)))
      throw new InvalidInput([{ path: 'role', message: `${role.name} includes no permission that concerns ${what}` }])
    const [member] = await tx
      .select({ userId: members.userId, name: users.name })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(and(visibleTo(ctx, members), eq(members.id, memberId)))
      .for('update', { of: members })
    if (!member) throw new NotFound(`There is no member ${memberId}.`)
    if ((await tx.$count(grants, eq(grants.memberId, memberId))) >= MAX_GRANTS)
      throw new Conflict(`${member.name} has ${MAX_GRANTS} grants, the maximum. Delete one, or grant a group above.`)
    const group = given.nodeGroupId ? await lockGroup(tx, ctx, given.nodeGroupId) : null
    const cluster = given.slurmClusterId ? await lockCluster(tx, ctx, given.slurmClusterId) : null
    const partitions = cluster && given.partitions ? await existingPartitions(tx, cluster, given.partitions) : null
    const templateIds = await existing(tx, ctx, jobTemplates, 'jobTemplateIds', given.jobTemplateIds)
    const credentialIds = await existing(tx, ctx, credentials, 'credentialIds', given.credentialIds)
    const [grant] = await tx
      .insert(grants)
      .values({
        ...{ tenantId: ctx.tenantId, memberId, role: role.name, ...createdBy(ctx) },
        ...{ groupId: group?.id ?? null, templateIds, credentialIds, clusterId: cluster?.id ?? null, partitions },
      })
      .returning()
    const details = group
      ? { role: role.name, group: group.name, templateIds, credentialIds }
      : { role: role.name, cluster: cluster!.name, partitions }
    await audit(tx, ctx, grantAudit.create, { id: grant!.id, name: member.name }, details)
    ctx.notify(accessChanged({ id: member.userId, tenantId: ctx.tenantId }))
    return grant!
  })
}

async function lockGroup(tx: Tx, ctx: Ctx, id: string): Promise<{ id: string; name: string }> {
  const [group] = await tx
    .select({ id: nodeGroups.id, name: nodeGroups.name })
    .from(nodeGroups)
    .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id)))
    .for('key share')
  if (!group) throw new NotFound(`There is no group ${id}.`)
  return group
}

async function lockCluster(tx: Tx, ctx: Ctx, id: string): Promise<Pick<SlurmCluster, 'id' | 'name'>> {
  const [cluster] = await tx
    .select({ id: slurmClusters.id, name: slurmClusters.name })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
    .for('key share')
  if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
  return cluster
}

async function existingPartitions(tx: Tx, { id, name }: Pick<SlurmCluster, 'id' | 'name'>, names: string[]): Promise<string[]> {
  const rows = await tx.select({ name: slurmPartitions.name }).from(slurmPartitions).where(eq(slurmPartitions.clusterId, id))
  const known = new Set(rows.map((row) => row.name))
  const missing = names.findIndex((each) => !known.has(each))
  if (missing >= 0)
    throw new InvalidInput([{ path: `partitions.${missing}`, message: `the cluster ${name} has no partition ${names[missing]}` }])
  return [...new Set(names)]
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
