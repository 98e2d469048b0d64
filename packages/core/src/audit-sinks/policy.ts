import { auditPermissions } from '../audit/permissions.ts'
import { type Actor, permissionDeniedReason } from '../kernel/context.ts'

/** Why `actor` may not create, change, test or delete sinks; null when allowed. */
export const sinkWriteBlockedReason = (actor: Actor): string | null => permissionDeniedReason(actor, auditPermissions.write)
