import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import type { LocalTarget } from '../kernel/outbound/index.ts'
import { bootProfileAudit } from './audit-actions.ts'
import { BOOT_PROFILE_FIELDS, bootUrlIssues, changedContent } from './fields.ts'
import { bootProfilePermissions } from './permissions.ts'
import type { BootProfile } from './tables.ts'
import { findBootProfile, lockProfiles, saveVersion } from './write.ts'

export const UpdateBootProfileInput = z.object({
  id: Id,
  /** The version that was edited. */
  version: z.int().min(1),
  ...BOOT_PROFILE_FIELDS,
})

/**
 * Stores the given fields as the next version. Omitted fields keep their values, null inherits. Nothing changes when all values are the same.
 * @throws NotFound; Conflict somebody changed it meanwhile; InvalidInput also for a parent that would create a cycle
 */
export async function updateBootProfile(
  ctx: Ctx,
  input: z.input<typeof UpdateBootProfileInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<BootProfile> {
  authorize(ctx, bootProfilePermissions.write)
  const { id, version, comment = null, ...given } = parseInput(UpdateBootProfileInput, input)
  const issues = await bootUrlIssues(given, localTargets)
  if (issues.length > 0) throw new InvalidInput(issues)
  return inTransaction(ctx, async (tx, ctx) => {
    const profiles = await lockProfiles(tx, ctx)
    const before = await findBootProfile(tx, ctx, id)
    const content = changedContent(before.content, given)
    const parentId = given.parentId === undefined ? before.parentId : given.parentId
    if (before.version === version && parentId === before.parentId && isDeepStrictEqual(content, before.content)) return before
    const profile = await saveVersion(tx, ctx, profiles, before, { content, parentId, comment, basedOn: version })
    await audit(tx, ctx, bootProfileAudit.update, profile, { version: profile.version }, { reason: comment })
    return profile
  })
}
