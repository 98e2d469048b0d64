import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { ago, count, isTable, printObject, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const LIST = graphql(`query SnippetList($first: Int, $after: String) {
  slurmConfigSnippets(first: $first, after: $after) {
    edges { node { id name version regions updatedAt files { name text } clusters { state cluster { name } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const snippetList = () =>
  new Command('list')
    .description('list snippets, with the states of their clusters')
    .withOutput()
    .action(async (options: Output) => {
      const rows = await fetchAll(async (page) => (await request(LIST, page)).slurmConfigSnippets)
      printRows(
        rows,
        [
          { title: 'NAME', value: (s) => s.name },
          { title: 'VERSION', value: (s) => s.version },
          { title: 'FILES', value: (s) => s.files.map(({ name }) => name).join(', ') },
          { title: 'REGIONS', value: (s) => s.regions.join(', ') },
          { title: 'CLUSTERS', value: (s) => s.clusters.map((c) => `${c.cluster.name} ${c.state}`).join(', ') },
          { title: 'CHANGED', value: (s) => ago(s.updatedAt) },
        ],
        options,
        'No snippets yet. Create one with `muster cluster snippet create`.',
      )
    })

const GET = graphql(`query SnippetGet($name: String!) {
  slurmConfigSnippet(name: $name) {
    id name version regions files { name text } chosenClusters { id name } clusterCount clusters { state message cluster { id name } } createdBy { name } createdAt updatedAt
  }
}`)

/** @throws CliError there is none */
export async function readSnippet(name: string) {
  const { slurmConfigSnippet: snippet } = await request(GET, { name })
  if (!snippet) throw new CliError(`No snippet named ${name}. See \`muster cluster snippet list\`.`, EXIT.notFound)
  return snippet
}

type Snippet = Awaited<ReturnType<typeof readSnippet>>

/** State of the snippet in each cluster. */
export const stateLines = ({ clusters }: Pick<Snippet, 'clusters'>): string[] =>
  clusters.map(({ cluster, state, message }) => `${cluster.name}: ${state}${message ? `. ${message}` : ''}`)

export const snippetGet = () =>
  new Command('get')
    .description('print a snippet, with its state in each of its clusters')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, options: Output) => {
      const snippet = await readSnippet(name)
      if (!isTable(options)) return printObject(snippet, options)
      for (const { name: file, text } of snippet.files) process.stdout.write(`# ${file}\n${text}`)
      const lines = stateLines(snippet)
      const regions = snippet.regions.length > 0 ? `Regions: ${snippet.regions.join(', ')}\n` : ''
      const more = snippet.clusterCount - lines.length
      process.stdout.write(`\n${regions}${lines.length > 0 ? lines.join('\n') : 'No cluster uses it.'}\n`)
      if (more > 0) process.stdout.write(`and ${count(more, 'more cluster')}\n`)
    })
