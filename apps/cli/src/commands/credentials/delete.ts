import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../lookup.ts'

export const credentialDelete = () =>
  new Command('delete')
    .description('delete an unused credential')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteCredential } = await request(
        graphql(`mutation CredentialDelete($id: ID!) {
          deleteCredential(input: { id: $id }) { __typename ... on DeleteCredentialPayload { deletedId } ... on Error { code message } }
        }`),
        { id: await credentialId(name) },
      )
      orThrow(deleteCredential)
      process.stderr.write(`Deleted ${name}.\n`)
    })
