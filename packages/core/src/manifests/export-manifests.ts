import { stringify } from 'yaml'
import { z } from 'zod'
import { credentialPermissions } from '../credentials/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { flatten, versionOf } from './apply/fields.ts'
import { KINDS, kinds, Lookup } from './kinds/index.ts'
import { API_VERSION, MAX_CHARACTERS } from './parse/parse-manifests.ts'
import { manifestPermissions } from './permissions.ts'

export const ExportManifestsInput = z.object({
  /** Null: all kinds. */
  kinds: z.array(z.enum(KINDS)).nullish(),
  /** Names of objects; null: all. */
  names: z.array(z.string().max(200)).max(10_000).nullish(),
  /** Adds `metadata.resourceVersion`. */
  withVersions: z.boolean().nullish(),
})

/**
 * Objects as manifests, which apply without changes and export as the same bytes. Not exported: what is built in, decommissioned or
 * archived, groups of managed clusters, and secrets.
 * @throws InvalidInput the text would be too long to be applied
 */
export async function exportManifests(ctx: Ctx, input: z.input<typeof ExportManifestsInput>): Promise<string> {
  authorize(ctx, manifestPermissions.plan)
  // Plans and exports contain names of credentials.
  authorize(ctx, credentialPermissions.read)
  const wanted = parseInput(ExportManifestsInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = { tx, ctx, lookup: new Lookup(tx, ctx), localTargets: [] }
    const documents: string[] = []
    let length = 0
    for (const kind of kinds) {
      if (wanted.kinds && !wanted.kinds.includes(kind.kind)) continue
      const stored = await kind.read(scope, wanted.names ?? null)
      for (const { name, spec, isRetired, unmanagedReason } of stored.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (isRetired || unmanagedReason) continue
        const version = wanted.withVersions ? { resourceVersion: versionOf(flatten(kind, spec)) } : {}
        const text = stringify(
          { apiVersion: API_VERSION, kind: kind.kind, metadata: { name, ...version }, spec },
          { lineWidth: 0 },
        )
        length += text.length + 4
        if (length > MAX_CHARACTERS)
          throw new InvalidInput([
            {
              path: 'kinds',
              message: `the export has more than ${MAX_CHARACTERS / 1e6} million characters; export fewer kinds or names`,
            },
          ])
        documents.push(text)
      }
    }
    return documents.join('---\n')
  })
}
