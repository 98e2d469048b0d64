import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printRows } from '../../output.ts'

export const templateList = () =>
  new Command('list')
    .description('job templates that can be run')
    .option('--archived', 'those that were archived instead')
    .addOption(outputOption())
    .action(async ({ archived = false, output }: { archived?: boolean; output: Format }) => {
      const { jobTemplates } = await request(
        graphql(
          `query Templates($archived: Boolean!) { jobTemplates(first: 500, archived: $archived) { edges { node { name displayName category description source become timeoutSeconds version } } } }`,
        ),
        { archived },
      )
      printRows(
        jobTemplates.edges.map((e) => e.node),
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
