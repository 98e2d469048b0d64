import type { Membership } from '@muster/core/access'
import { Forbidden } from '@muster/core/errors'
import { parseId } from '../graphql/shared/ids.ts'

/** Names the tenant of a request, by name or global ID. Without it, a session works in its active tenant. */
export const TENANT_HEADER = 'x-muster-tenant'

type NamedTenant = { tenantId: string; tenantName: string }

const isNamed = ({ tenantId, tenantName }: NamedTenant, wanted: string) =>
  tenantName === wanted || parseId(wanted)?.id === tenantId

/**
 * The membership in which a user's request works: in the wanted tenant, else in the session's active tenant, else in the one joined
 * first. Undefined when the user has no active membership.
 * @throws Forbidden when the user is not an active member of the wanted tenant
 */
export function chooseMembership(
  memberships: Membership[],
  { wanted, activeTenantId }: { wanted: string | null; activeTenantId: string | null },
): Membership | undefined {
  if (!wanted) return memberships.find(({ tenantId }) => tenantId === activeTenantId) ?? memberships[0]
  const found = memberships.find((membership) => isNamed(membership, wanted))
  if (found) return found
  const names = memberships.map(({ tenantName }) => tenantName).join(', ')
  throw new Forbidden(`You are not an active member of a tenant ${wanted}. Your tenants: ${names || 'none'}.`)
}

/** @throws Forbidden when the wanted tenant is not the one of the token */
export function assertTokenTenant(tenant: NamedTenant, wanted: string | null): void {
  if (wanted && !isNamed(tenant, wanted))
    throw new Forbidden(
      `This API token belongs to the tenant ${tenant.tenantName}, not to ${wanted}. Use a token of that tenant.`,
    )
}
