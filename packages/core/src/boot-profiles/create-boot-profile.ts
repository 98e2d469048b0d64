import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { actorColumns, authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { nameTaken } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import type { LocalTarget } from '../kernel/outbound/index.ts'
import { bootProfileAudit } from './audit-actions.ts'
import { BOOT_PROFILE_FIELDS, BootProfileName, bootUrlIssues, changedContent, NO_CONTENT } from './fields.ts'
import { bootProfilePermissions } from './permissions.ts'
import { type BootProfile, bootProfiles } from './tables.ts'
import { assertParent, insertVersion, lockProfiles } from './write.ts'

const MAX_PROFILES = 1000

export const CreateBootProfileInput = z.object({
  name: BootProfileName,
  ...BOOT_PROFILE_FIELDS,
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a boot profile with its version 1. No node boots it before it is assigned.
 * @throws InvalidInput; Conflict the name is taken
 */
export async function createBootProfile(
  ctx: Ctx,
  input: z.input<typeof CreateBootProfileInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<BootProfile> {
  authorize(ctx, bootProfilePermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateBootProfileInput, input)
  const issues = await bootUrlIssues(given, localTargets)
  if (issues.length > 0) throw new InvalidInput(issues)
  const key = { verb: 'createBootProfile', key: idempotencyKey, input: given, result: oneRow(bootProfiles) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const { name, parentId = null, comment = null } = given
    const profiles = await lockProfiles(tx, ctx)
    if (profiles.size >= MAX_PROFILES)
      throw new Conflict(`There are ${MAX_PROFILES} boot profiles, the limit. Delete some first.`)
    assertParent(profiles, null, parentId)
    const content = changedContent(NO_CONTENT, given)
    const [profile] = await tx
      .insert(bootProfiles)
      .values({ tenantId: ctx.tenantId, name, parentId, content, ...createdBy(ctx), ...actorColumns(ctx, 'updated') })
      .onConflictDoNothing()
      .returning()
    if (!profile) throw nameTaken('boot profile', name)
    await insertVersion(tx, ctx, profile, profiles.get(parentId ?? '')?.name ?? null, comment)
    await audit(tx, ctx, bootProfileAudit.create, profile, {}, { reason: comment })
    return profile
  })
}
