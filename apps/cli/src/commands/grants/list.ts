import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query GrantList($first: Int, $after: String) {
  grants(first: $first, after: $after) {
    edges {
      node {
        id role createdAt createdBy { name } nodeGroup { name } slurmCluster { name } partitions jobTemplates { name } credentials { name }
        member { user { name email isServiceAccount } }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`)

const names = (list: { name: string }[] | null) => (list ? list.map(({ name }) => name).join(',') || 'none left' : 'all')

type Scope = { nodeGroup: { name: string } | null; slurmCluster: { name: string } | null; partitions: string[] | null }

/** What a grant is for. */
export function scopeOf({ nodeGroup, slurmCluster, partitions }: Scope): string {
  if (nodeGroup) return `the nodes of ${nodeGroup.name}`
  const cluster = `the cluster ${slurmCluster?.name}`
  return partitions ? `${partitions.join(',')} of ${cluster}` : cluster
}

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
          { title: 'FOR', value: scopeOf },
          { title: 'TEMPLATES', value: ({ nodeGroup, jobTemplates }) => nodeGroup && names(jobTemplates) },
          { title: 'CREDENTIALS', value: ({ nodeGroup, credentials }) => nodeGroup && names(credentials) },
          { title: 'ID', value: ({ id }) => id, wide: true },
          { title: 'BY', value: ({ createdBy }) => createdBy.name, wide: true },
          { title: 'CREATED', value: ({ createdAt }) => ago(createdAt), wide: true },
        ],
        output,
        'No grants. Create one with `muster grant create MEMBER --group NAME`, or with `--cluster NAME`.',
      )
    })
