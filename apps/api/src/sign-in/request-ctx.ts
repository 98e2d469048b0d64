import { type Attempt, type Origin, systemCtx } from '@muster/core/context'
import type { Runtime } from '@muster/core/registry'

/** What a request knows about itself for the audit log. */
export type AuditFacts = { deps: { runtime: Runtime }; origin: Origin; requestId: string; attempt?: Attempt }

/** Context of a verb that acts before a session exists, or over all tenants of a user. Its audit rows name the client. */
export const requestCtx = ({ deps, origin, requestId, attempt }: AuditFacts) => ({
  ...systemCtx(deps.runtime),
  origin,
  requestId,
  attempt,
})
