import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { findCluster } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { reusedConfigReason } from './policy.ts'
import { type SlurmConfigVersion, slurmConfigVersions } from './tables.ts'
import {
  applyChanges,
  assertNoNewErrors,
  ConfigChangesInput,
  ConfigFilesInput,
  createConfigVersion,
  findConfigVersion,
  releaseOf,
  sameFiles,
} from './versions.ts'

export const SaveSlurmConfigInput = z.object({
  clusterId: Id,
  /** The version that was edited. */
  basedOn: z.int().min(1),
  /** Edited text. Exactly one of `files` and `changes` is set. */
  files: ConfigFilesInput.nullish(),
  /** Changes of the edited version. */
  changes: ConfigChangesInput.nullish(),
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})

/**
 * Stores an edited configuration as the next version. It is not rolled out.
 * @throws Forbidden; NotFound the cluster or the version; Conflict there is a newer version, or the configuration is reused; InvalidInput it has
 * errors that the edited version does not have, or nothing changed
 */
export async function saveSlurmConfig(ctx: Ctx, input: z.input<typeof SaveSlurmConfigInput>): Promise<SlurmConfigVersion> {
  authorizeSomewhere(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, files: edited, changes, ...fields } = parseInput(SaveSlurmConfigInput, input)
  if (!edited === !changes) throw new InvalidInput([{ path: 'files', message: 'or changes are required, not both' }])
  const given = { ...fields, files: edited, changes }
  const key = { verb: 'saveSlurmConfig', key: idempotencyKey, input: given, result: oneRow(slurmConfigVersions) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await findCluster(tx, ctx, fields.clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.write, cluster)
    const reused = reusedConfigReason(cluster)
    if (reused) throw new Conflict(reused)
    const from = await findConfigVersion(tx, cluster, fields.basedOn)
    const files = changes ? applyChanges(from.files, changes) : ({ ...edited } as SlurmConfigVersion['files'])
    if (sameFiles(from.files, files))
      throw new InvalidInput([{ path: 'files', message: `are the same as in version ${from.number}` }])
    assertNoNewErrors(from.files, files, releaseOf(cluster))
    return createConfigVersion(tx, ctx, { ...fields, files, origin: 'EDITED' })
  })
}
