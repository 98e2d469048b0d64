import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query Templates($archived: Boolean!, $first: Int, $after: String) {
  jobTemplates(archived: $archived, first: $first, after: $after) {
    edges { node { name displayName category description source become timeoutSeconds version } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const templateList = () =>
  new Command('list')
    .description('job templates that can be run')
    .option('--archived', 'those that were archived instead')
    .addOption(outputOption())
    .action(async ({ archived = false, output }: { archived?: boolean; output: Format }) => {
      printRows(
        await rowsOf(async (page) => (await request(LIST, { archived, ...page })).jobTemplates),
        [
          { title: 'NAME', value: (t) => t.name },
          { title: 'CATEGORY', value: (t) => t.category },
          { title: 'SOURCE', value: (t) => t.source.toLowerCase() },
          { title: 'BECOME', value: (t) => (t.become ? 'yes' : 'no') },
          { title: 'DESCRIPTION', value: (t) => t.description, spare: true },
        ],
        output,
      )
    })
