import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { findTemplate, SETTINGS } from './fields.ts'

const VERSIONS = graphql(
  `query TemplateVersions($name: String!, $first: Int, $after: String) {
    jobTemplate(name: $name) {
      versions(first: $first, after: $after) {
        edges { node { version reason createdBy { name } createdAt settings { ...Settings } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }`,
  [SETTINGS],
)

export const templateHistory = () =>
  new Command('history')
    .description('list the versions of a job template, newest first; -o json includes their settings')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      await findTemplate(name)
      printRows(
        await fetchAll(async (page) => (await request(VERSIONS, { name, ...page })).jobTemplate?.versions),
        [
          { title: 'VERSION', value: (v) => v.version },
          { title: 'CREATED', value: (v) => ago(v.createdAt) },
          { title: 'BY', value: (v) => v.createdBy.name },
          { title: 'REASON', value: (v) => v.reason },
        ],
        output,
      )
    })
