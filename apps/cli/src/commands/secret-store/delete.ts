import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { storeId } from './fields.ts'

export const secretStoreDelete = () =>
  new Command('delete')
    .description('forget a secret store that no credential uses')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteSecretStore } = await request(
        graphql(`mutation SecretStoreDelete($id: ID!) {
          deleteSecretStore(id: $id) { __typename ... on Deleted { id } ... on Error { code message } }
        }`),
        { id: await storeId(name) },
      )
      orThrow(deleteSecretStore)
      process.stderr.write(`Forgot ${name}.\n`)
    })
