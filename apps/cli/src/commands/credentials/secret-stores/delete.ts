import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { storeId } from './fields.ts'

export const secretStoreDelete = () =>
  new Command('delete')
    .description('delete an unused secret store')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteSecretStore } = await request(
        graphql(`mutation SecretStoreDelete($id: ID!) {
          deleteSecretStore(input: { id: $id }) { __typename ... on DeleteSecretStorePayload { deletedId } ... on Error { code message } }
        }`),
        { id: await storeId(name) },
      )
      orThrow(deleteSecretStore)
      process.stderr.write(`Deleted ${name}.\n`)
    })
