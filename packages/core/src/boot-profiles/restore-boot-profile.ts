import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { bootProfileAudit } from './audit-actions.ts'
import { BOOT_PROFILE_FIELDS } from './fields.ts'
import { bootProfilePermissions } from './permissions.ts'
import { type BootProfile, bootProfileVersions } from './tables.ts'
import { findBootProfile, lockProfiles, saveVersion } from './write.ts'

export const RestoreBootProfileInput = z.object({
  id: Id,
  /** The newest version that the caller has seen. */
  version: z.int().min(1),
  /** The version to restore. */
  number: z.int().min(1),
  comment: BOOT_PROFILE_FIELDS.comment,
})

/**
 * Stores the content and parent of an earlier version as the next version.
 * @throws NotFound no such profile or version; Conflict somebody changed it meanwhile; InvalidInput its parent does not exist any more
 */
export async function restoreBootProfile(ctx: Ctx, input: z.input<typeof RestoreBootProfileInput>): Promise<BootProfile> {
  authorize(ctx, bootProfilePermissions.write)
  const { id, version, number, comment } = parseInput(RestoreBootProfileInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const profiles = await lockProfiles(tx, ctx)
    const before = await findBootProfile(tx, ctx, id)
    const [old] = await tx
      .select()
      .from(bootProfileVersions)
      .where(and(eq(bootProfileVersions.profileId, id), eq(bootProfileVersions.number, number)))
    if (!old) throw new NotFound(`The boot profile ${before.name} has no version ${number}; the newest is ${before.version}.`)
    const parent = [...profiles.values()].find(({ name }) => name === old.parent)
    if (old.parent !== null && !parent)
      throw new InvalidInput([
        {
          path: 'number',
          message: `the parent of version ${number}, ${old.parent}, does not exist any more; edit the profile instead`,
        },
      ])
    const text = comment ?? `Restored version ${number}.`
    const change = { content: old.content, parentId: parent?.id ?? null, comment: text, basedOn: version }
    const profile = await saveVersion(tx, ctx, profiles, before, change)
    await audit(tx, ctx, bootProfileAudit.restore, profile, { version: profile.version, restored: number }, { reason: text })
    return profile
  })
}
