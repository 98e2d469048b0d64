import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { write } from '../../output.ts'
import { KINDS, kindNamed } from './kinds.ts'

export const schema = () =>
  new Command('schema')
    .description('print the JSON Schema of the manifests of a kind, for editors')
    .argument('<kind>', KINDS.join(', '))
    .action(async (kind: string) => {
      const { manifestSchema } = await request(
        graphql(`query ManifestSchema($kind: ManifestKind!) { manifestSchema(kind: $kind) }`),
        { kind: kindNamed(kind) },
      )
      await write(manifestSchema)
    })
