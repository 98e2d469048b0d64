import type { AuditAction } from '@muster/core/audit'
import type { LocalTarget } from '@muster/core/outbound'
import type { Ctx } from '@muster/core/registry'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type OpenchamiRequest = {
  ctx: Ctx
  params: Record<string, string>
  query: URLSearchParams
  body: unknown
  localTargets: readonly LocalTarget[]
}
export type Answer = { status: number; body?: unknown; location?: string }
export type Endpoint = {
  handle(request: OpenchamiRequest): Answer | Promise<Answer>
  /** Whether it needs no token: it shows nothing of a tenant. */
  isPublic?: boolean
  /** Whether it requires a token even for the public tenant. */
  needsToken?: boolean
  /** Whether a GET can have a body. */
  readsBody?: boolean
  /** Whether the body must be a JSON object. */
  hasBody?: boolean
  /** Query parameters, in lower case. Others are refused. */
  filters?: readonly string[]
  /** Its action in the audit log when it is refused. */
  action?: AuditAction
}
