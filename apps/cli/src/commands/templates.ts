import { Command } from 'commander'
import { request } from '../client.ts'
import { graphql } from '../graphql.ts'
import { type Format, outputOption, printRows } from '../output.ts'

export const templates = () =>
  new Command('templates')
    .description('job templates that can be run')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const { jobTemplates } = await request(
        graphql(
          `query Templates { jobTemplates(first: 500) { edges { node { name displayName category description become timeoutSeconds } } } }`,
        ),
        {},
      )
      const rows = jobTemplates.edges.map((e) => e.node)
      printRows(
        rows,
        [
          { title: 'NAME', value: (t) => t.name },
          { title: 'CATEGORY', value: (t) => t.category },
          { title: 'BECOME', value: (t) => (t.become ? 'yes' : 'no') },
          { title: 'DESCRIPTION', value: (t) => t.description },
        ],
        output,
      )
    })
