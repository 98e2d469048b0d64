import { z } from 'zod'
import { ManifestFiles } from '../parse/parse-manifests.ts'

export const DEFAULT_OWNER = 'default'

const Owner = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, 'must be 1 to 63 letters, digits, dots, dashes, slashes or underscores')

const FIELDS = {
  files: ManifestFiles,
  /** Under which name the fields are owned. */
  owner: Owner.nullish().transform((owner) => owner ?? DEFAULT_OWNER),
  /** Deletes objects that this owner applied earlier and that are not in the files. */
  prune: z
    .boolean()
    .nullish()
    .transform((prune) => prune ?? false),
  /** Takes over fields that another owner or a person set. */
  forceConflicts: z
    .boolean()
    .nullish()
    .transform((force) => force ?? false),
}
export const PlanManifestsInput = z.object(FIELDS)
export const ApplyManifestsInput = z.object({
  ...FIELDS,
  /** Applies only if the plan still has this fingerprint. */
  fingerprint: z.string().max(100).nullish(),
})
export type Options = Pick<z.output<typeof PlanManifestsInput>, 'owner' | 'prune' | 'forceConflicts'>
