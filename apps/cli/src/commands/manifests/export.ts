import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { write } from '../../output.ts'
import { KINDS, type Kind, kindNamed } from './kinds.ts'

export const exportManifests = () =>
  new Command('export')
    .description('print objects as manifests; applying them changes nothing')
    .argument('[objects...]', `kinds or KIND/NAME; kinds are ${KINDS.join(', ')}; default: all`)
    .option('--resource-versions', 'add metadata.resourceVersion: applying an object that changed meanwhile is a conflict')
    .action(async (objects: string[], options: { resourceVersions?: true }) => {
      const withVersions = options.resourceVersions ?? false
      const wanted = objects.map((text) => {
        const [kind = '', ...name] = text.split('/')
        return { kind: kindNamed(kind), name: name.join('/') }
      })
      if (wanted.length === 0) return write(await read({ withVersions }))
      const parts: string[] = []
      for (const [kind, some] of Map.groupBy(wanted, ({ kind }) => kind)) {
        const isWhole = some.some(({ name }) => name === '')
        parts.push(await read({ withVersions, kinds: [kind], ...(isWhole ? {} : { names: some.map(({ name }) => name) }) }))
      }
      await write(parts.filter(Boolean).join('---\n'))
    })

async function read(input: { withVersions: boolean; kinds?: Kind[]; names?: string[] }): Promise<string> {
  const { exportManifests } = await request(
    graphql(`query ExportManifests($input: ExportManifestsInput!) {
      exportManifests(input: $input) {
        __typename
        ... on ManifestExport { text }
        ... on Error { code message }
        ... on InvalidInputError { issues { path message } }
      }
    }`),
    { input },
  )
  return orThrow(exportManifests).text
}
