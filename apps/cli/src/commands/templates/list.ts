import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query Templates($filter: JobTemplateFilter, $first: Int, $after: String) {
  jobTemplates(filter: $filter, first: $first, after: $after) {
    edges { node { name displayName category description version settings { source become timeoutSeconds } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const templateList = () =>
  new Command('list')
    .description('list job templates')
    .option('--archived', 'list archived templates instead')
    .withOutput()
    .action(async ({ archived = false, ...output }: Output & { archived?: boolean }) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, { filter: { isArchived: archived }, ...page })).jobTemplates),
        [
          { title: 'NAME', value: (t) => t.name },
          { title: 'CATEGORY', value: (t) => t.category },
          { title: 'SOURCE', value: (t) => t.settings.source.toLowerCase() },
          { title: 'BECOME', value: (t) => (t.settings.become ? 'yes' : 'no') },
          { title: 'DESCRIPTION', value: (t) => t.description, wide: true },
        ],
        output,
      )
    })
