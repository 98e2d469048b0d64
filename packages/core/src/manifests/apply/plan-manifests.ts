import type { z } from 'zod'
import { credentialPermissions } from '../../credentials/index.ts'
import { authorize, type Ctx, dryRun } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { parseManifests } from '../parse/parse-manifests.ts'
import { manifestPermissions } from '../permissions.ts'
import { execute, planOfIssues } from './execute.ts'
import { PlanManifestsInput } from './input.ts'
import type { ManifestPlan } from './result.ts'

/**
 * Returns what `applyManifests` would do: it calls the same verbs with the same permissions in a transaction that is rolled back.
 * @throws InvalidInput too many files or characters; issues of the manifests are in the plan
 */
export async function planManifests(
  ctx: Ctx,
  input: z.input<typeof PlanManifestsInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<ManifestPlan> {
  authorize(ctx, manifestPermissions.plan)
  // Plans and exports contain names of credentials.
  authorize(ctx, credentialPermissions.read)
  const { files, ...options } = parseInput(PlanManifestsInput, input)
  const manifests = await parseManifests(files)
  if (manifests.issueCount > 0) return planOfIssues(manifests, options)
  return dryRun({ ...ctx, attempt: undefined }, (tx, ctx) => execute(tx, ctx, manifests, options, localTargets))
}
