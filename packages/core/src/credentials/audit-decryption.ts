import { type AuditAction, audit } from '../audit/index.ts'
import { type Ctx, inTransaction } from '../kernel/context.ts'

/**
 * Records that the caller is about to decrypt secrets of these objects. The rows are committed before a secret is released: without
 * them, nothing is decrypted.
 */
export async function auditDecryption(
  ctx: Ctx,
  action: AuditAction,
  objects: { id: string; name: string | null }[],
  details: Record<string, unknown> = {},
): Promise<void> {
  if (objects.length > 0) await inTransaction(ctx, (tx) => audit(tx, ctx, action, objects, details))
}
