import { request } from '../../../client.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { fetchAll } from '../../../pages.ts'

const TENANTS = graphql(`query TenantList($first: Int, $after: String) {
  tenants(first: $first, after: $after) {
    edges { node { id name createdAt maxConcurrentRuns maxNodes nodeCount memberCount activeRunCount suspendedAt suspendedBy { name } deletedAt } }
    pageInfo { hasNextPage endCursor }
  }
}`)

/** All tenants, oldest first. */
export const allTenants = () => fetchAll(async (page) => (await request(TENANTS, page)).tenants)

export async function findTenant(name: string) {
  const found = (await allTenants()).find((tenant) => tenant.name === name)
  if (!found) throw new CliError(`No tenant ${name}. See \`muster tenant list\`.`, EXIT.notFound)
  return found
}
