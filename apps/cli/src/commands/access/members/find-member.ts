import { request } from '../../../client.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { fetchAll } from '../../../pages.ts'

const MEMBERS = graphql(`query MemberList($first: Int, $after: String) {
  members(first: $first, after: $after) {
    edges { node { id role createdAt suspendedAt user { name email isServiceAccount } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

/** All members of the tenant, oldest first. */
export const allMembers = () => fetchAll(async (page) => (await request(MEMBERS, page)).members)

/** The member with this email address, or with this name if it is the only one. */
export async function findMember(name: string) {
  const all = await allMembers()
  const found = all.filter(({ user }) => user.email === name.toLowerCase())
  const named = found.length > 0 ? found : all.filter(({ user }) => user.name === name)
  if (named.length > 1) throw new CliError(`Several members are named ${name}. Use the email address.`, EXIT.usage)
  if (!named[0]) throw new CliError(`No member ${name}. See \`muster member list\`.`, EXIT.notFound)
  return named[0]
}
