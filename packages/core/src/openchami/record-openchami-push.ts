import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { openchamiTargetAudit } from './audit-actions.ts'
import type { ClaimedTarget } from './claim-openchami-target.ts'
import type { Difference } from './objects.ts'
import { openchamiPermissions } from './permissions.ts'

/** As many objects are named in the audit log. */
const MAX_NAMED = 100

/** Audits a push, before the first object is written. @throws Forbidden when the caller is not a worker */
export async function recordOpenchamiPush(ctx: Ctx, { target }: ClaimedTarget, wanted: readonly Difference[]): Promise<void> {
  authorize(ctx, openchamiPermissions.report)
  const objects = wanted.slice(0, MAX_NAMED).map(({ object }) => object)
  await inTransaction(ctx, (tx, ctx) => audit(tx, ctx, openchamiTargetAudit.push, target, { count: wanted.length, objects }))
}
