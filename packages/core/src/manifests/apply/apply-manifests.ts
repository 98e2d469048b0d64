import type { z } from 'zod'
import { credentialPermissions } from '../../credentials/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { parseManifests } from '../parse/parse-manifests.ts'
import { manifestPermissions } from '../permissions.ts'
import { execute, planOfIssues } from './execute.ts'
import { ApplyManifestsInput } from './input.ts'
import type { ManifestPlan } from './result.ts'

/** Rolls the transaction back. */
class NotApplied extends Error {
  readonly plan: ManifestPlan
  constructor(plan: ManifestPlan) {
    super('the manifests were not applied')
    this.plan = plan
  }
}

/**
 * Creates and changes the objects of the manifests, and with `prune` deletes those that the owner no longer has: all of them or, when
 * there is an issue or a conflict, none. A second call changes nothing.
 * @throws InvalidInput too many files or characters; Conflict the plan has another fingerprint now
 */
export async function applyManifests(
  ctx: Ctx,
  input: z.input<typeof ApplyManifestsInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<ManifestPlan> {
  authorize(ctx, manifestPermissions.apply)
  // Plans and exports contain names of credentials.
  authorize(ctx, credentialPermissions.read)
  const { files, fingerprint, ...options } = parseInput(ApplyManifestsInput, input)
  const manifests = await parseManifests(files)
  if (manifests.issueCount > 0) return planOfIssues(manifests, options)
  const work = inTransaction(ctx, async (tx, ctx) => {
    const plan = await execute(tx, ctx, manifests, options, localTargets)
    if (plan.issueCount > 0 || plan.conflictCount > 0) throw new NotApplied(plan)
    if (fingerprint && fingerprint !== plan.fingerprint)
      throw new Conflict('Objects of these manifests changed after the plan was made. Plan again, and review the changes.')
    return { ...plan, isApplied: true }
  })
  return work.catch((error: unknown) => {
    if (error instanceof NotApplied) return error.plan
    throw error
  })
}
