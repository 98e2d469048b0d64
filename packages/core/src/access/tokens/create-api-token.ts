import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { nodeGroups } from '../../groups/tables.ts'
import { IdempotencyKey, idempotent, shownOnce } from '../../idempotency/index.ts'
import { authorize, type Ctx, createdBy, type Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { Forbidden, InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id, Ids, singleLineText } from '../../kernel/input.ts'
import { Network, networkOutside } from '../../kernel/networks.ts'
import { isBuiltInRole, type Role } from '../../kernel/permissions.ts'
import { apiTokenAudit } from '../audit-actions.ts'
import { memberPermissions, tenantPermissions, tokenPermissions } from '../permissions.ts'
import { exceedsBlockedReason } from '../policy.ts'
import { PermissionNames, RoleName } from '../roles/role-fields.ts'
import { findRole } from '../roles/role-rows.ts'
import { type ApiToken, apiTokens, members, users } from '../tables.ts'
import { makeToken } from './make-token.ts'

const DAY_S = 86_400
const DEFAULT_DAYS = 90

export const CreateApiTokenInput = z.object({
  name: singleLineText(100),
  role: RoleName,
  /** Of the permissions of the role, those that the token has. Null: all. */
  permissions: PermissionNames.nullish(),
  /** The token has permissions, other than to read, only for nodes of these groups. Empty: in the whole tenant. */
  nodeGroupIds: Ids.refine((ids) => ids.length <= 50, 'at most 50')
    .nullish()
    .transform((ids) => ids ?? []),
  /** Also holds the permissions of the installation, as long as its owner does. */
  isInstallationAdmin: z.boolean().default(false),
  /** Null: 90 days, or less when the installation or the caller's token allows less. */
  expiresInSeconds: z.number().int('must be a whole number').min(60, 'must be at least 60').nullish(),
  /** The token is accepted only from these networks. Empty: from everywhere, or where the caller's own token is accepted. */
  networks: z
    .array(Network)
    .max(50)
    .nullish()
    .transform((networks) => networks ?? []),
  /** The service account that owns the token, by the ID of its member. Null: the caller. */
  serviceAccountId: Id.nullish(),
  idempotencyKey: IdempotencyKey,
})

/** `maxDays`: longest lifetime of a token in this installation. */
export type TokenPolicy = { maxDays: number }

type Created = { token: string; apiToken: ApiToken }

/**
 * Creates a token for a program. Its secret is returned only here. A token that creates another one passes on at most its own
 * permissions, networks and lifetime.
 * @throws Forbidden when it exceeds the caller; InvalidInput when it lives longer than allowed; NotFound the service account
 */
export async function createApiToken(
  ctx: Ctx,
  input: z.input<typeof CreateApiTokenInput>,
  { maxDays }: TokenPolicy = { maxDays: 365 },
): Promise<Created> {
  authorize(ctx, tokenPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateApiTokenInput, input)
  const { name, isInstallationAdmin, expiresInSeconds, serviceAccountId, nodeGroupIds: groupIds } = fields
  if (isInstallationAdmin && !('isInstallationAdmin' in ctx.actor && ctx.actor.isInstallationAdmin))
    throw new Forbidden('Only an installation administrator can create a token with installation permissions.')
  if (isInstallationAdmin && groupIds.length > 0)
    throw new InvalidInput([{ path: 'nodeGroupIds', message: 'must be empty for a token that administers the installation' }])
  if (isInstallationAdmin && serviceAccountId)
    throw new InvalidInput([
      {
        path: 'isInstallationAdmin',
        message: 'must be false for a token of a service account: only a person can be an installation administrator',
      },
    ])
  if (serviceAccountId) authorize(ctx, memberPermissions.write)
  if (expiresInSeconds && expiresInSeconds > maxDays * DAY_S) throw tooLong(`at most ${maxDays * DAY_S} (${maxDays} days)`)
  const seconds = expiresInSeconds ?? Math.min(DEFAULT_DAYS, maxDays) * DAY_S
  const { token, prefix, hash } = makeToken()
  const result = shownOnce<Created>(
    `The idempotency key ${idempotencyKey} already created the API token ${name}, and a token is shown once. Revoke it and create another one with a new key.`,
  )
  return idempotent(ctx, { verb: 'createApiToken', key: idempotencyKey, input: fields, result }, async (tx, ctx) => {
    const role = await findRole(tx, ctx, fields.role)
    const permissions = permissionsOf(ctx, role, fields.permissions)
    const isOwn = !serviceAccountId
    const blockedReason = exceedsBlockedReason(
      ctx.actor,
      { name: role.name, permissions: permissions ?? role.permissions },
      isOwn,
    )
    if (blockedReason) throw new Forbidden(`${tokenPermissions.write.name}: ${blockedReason}`)
    await assertGroupsExist(tx, ctx, groupIds)
    const ownerId = serviceAccountId ? await findServiceAccount(tx, ctx, serviceAccountId) : callerId(ctx)
    const parent = ctx.actor.kind === 'token' ? await lockParent(tx, ctx, ctx.actor.id) : null
    if (parent && expiresInSeconds && Date.now() + expiresInSeconds * 1000 > parent.expiresAt.getTime())
      throw tooLong(`less: your own token expires at ${parent.expiresAt.toISOString()}`)
    const networks = fields.networks.length > 0 ? fields.networks : (parent?.networks ?? [])
    const outside = parent && parent.networks.length > 0 ? networkOutside(networks, parent.networks) : null
    if (outside) throw new Forbidden(`The network ${outside} is outside the networks of your own token. Name one within them.`)
    const expiresAt = sql`now() + make_interval(secs => ${seconds})`
    const [apiToken] = await tx
      .insert(apiTokens)
      .values({
        tenantId: ctx.tenantId,
        name,
        role: role.name,
        permissions: permissions && [...permissions].sort(),
        groupIds,
        isInstallationAdmin,
        prefix,
        hash,
        ownerId,
        parentId: parent?.id ?? null,
        networks,
        ...createdBy(ctx),
        expiresAt: parent ? sql`least(${expiresAt}, ${parent.expiresAt.toISOString()}::timestamptz)` : expiresAt,
      })
      .returning()
    await audit(tx, ctx, apiTokenAudit.create, apiToken!, {
      role: role.name,
      ...(permissions ? { permissions: [...permissions] } : {}),
      ...(groupIds.length > 0 ? { groupIds } : {}),
      isInstallationAdmin,
      prefix,
      networks,
      expiresAt: apiToken!.expiresAt,
    })
    return { token, apiToken: apiToken! }
  })
}

/**
 * Which permissions of its role a new token has; null: all, also those that the role gets later. A token names those of the tokens it
 * creates with a custom role, so that no change of the role gives them more than it has itself.
 */
function permissionsOf({ actor }: Ctx, role: Role, given: string[] | null | undefined): ReadonlySet<string> | null {
  if (!given) return actor.kind === 'token' && !isBuiltInRole(role.name) ? role.permissions : null
  const issues = given.flatMap((name, i) =>
    role.permissions.has(name) ? [] : [{ path: `permissions.${i}`, message: `the role ${role.name} does not include ${name}` }],
  )
  if (issues.length > 0) throw new InvalidInput(issues)
  return new Set([tenantPermissions.read.name, ...given])
}

const tooLong = (allowed: string) => new InvalidInput([{ path: 'expiresInSeconds', message: `must be ${allowed}` }])

/** The user for whom the caller acts. Muster itself owns no tokens. */
function callerId({ actor }: Ctx): string {
  const id = actor.kind === 'user' ? actor.id : actor.kind === 'token' ? actor.userId : null
  if (!id) throw new InvalidInput([{ path: 'serviceAccountId', message: 'is required: only members own API tokens' }])
  return id
}

async function assertGroupsExist(tx: Tx, ctx: Ctx, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await tx
    .select({ id: nodeGroups.id })
    .from(nodeGroups)
    .where(and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.id, ids)))
  const known = new Set(rows.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing) throw new NotFound(`There is no group ${missing}.`)
}

/** The user of a member that is a service account. */
async function findServiceAccount(tx: Tx, ctx: Ctx, memberId: string): Promise<string> {
  const [found] = await tx
    .select({ id: users.id, role: members.role })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(visibleTo(ctx, members), eq(members.id, memberId), eq(users.isServiceAccount, true)))
  if (!found) throw new NotFound(`There is no service account ${memberId}.`)
  return found.id
}

/** Locks the caller's token until the end of the transaction: its revocation waits, and then includes the new token. */
async function lockParent(tx: Tx, ctx: Ctx, id: string): Promise<ApiToken> {
  const [parent] = await tx
    .select()
    .from(apiTokens)
    .where(and(visibleTo(ctx, apiTokens), eq(apiTokens.id, id), isNull(apiTokens.revokedAt)))
    .for('share')
  if (!parent) throw new Forbidden('Your own API token was revoked. Sign in, or use another token.')
  return parent
}
