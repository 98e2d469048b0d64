import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query GrantList($first: Int, $after: String) {
  grants(first: $first, after: $after) {
    edges {
      node {
        id role createdAt createdBy { name } nodeGroup { name } jobTemplates { name } credentials { name }
        member { user { name email isServiceAccount } }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`)

const names = (list: { name: string }[] | null) => (list ? list.map(({ name }) => name).join(',') || 'none left' : 'all')

/** All grants of the tenant, oldest first. */
export const allGrants = () => fetchAll(async (page) => (await request(LIST, page)).grants)

export const grantList = () =>
  new Command('list')
    .description('list grants')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await allGrants(),
        [
          { title: 'MEMBER', value: ({ member: { user } }) => (user.isServiceAccount ? user.name : user.email) },
          { title: 'ROLE', value: ({ role }) => role },
          { title: 'GROUP', value: ({ nodeGroup }) => nodeGroup.name },
          { title: 'TEMPLATES', value: ({ jobTemplates }) => names(jobTemplates) },
          { title: 'CREDENTIALS', value: ({ credentials }) => names(credentials) },
          { title: 'ID', value: ({ id }) => id, wide: true },
          { title: 'BY', value: ({ createdBy }) => createdBy.name, wide: true },
          { title: 'CREATED', value: ({ createdAt }) => ago(createdAt), wide: true },
        ],
        output,
        'No grants. Create one with `muster grant create MEMBER --group NAME`.',
      )
    })
