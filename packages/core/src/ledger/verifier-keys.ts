import { eq } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { ledgerVerifierKey } from './keys.ts'
import { ledgerPermissions } from './permissions.ts'
import { ledgerCheckpoints } from './tables.ts'

/** The public keys of all checkpoints of the tenant, oldest first, as verifier keys of signed notes. Publish them outside of Muster. */
export async function ledgerVerifierKeys(ctx: Ctx): Promise<string[]> {
  authorize(ctx, ledgerPermissions.read)
  const versions = await ctx.db
    .selectDistinct({ version: ledgerCheckpoints.keyVersion })
    .from(ledgerCheckpoints)
    .where(eq(ledgerCheckpoints.tenantId, ctx.tenantId))
  const sorted = versions.map(({ version }) => version).sort((a, b) => a - b)
  return Promise.all(sorted.map((version) => ledgerVerifierKey(ctx.vault, ctx.tenantId, version)))
}
