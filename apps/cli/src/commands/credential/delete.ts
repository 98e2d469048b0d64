import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../ids.ts'

export const credentialDelete = () =>
  new Command('delete')
    .description('delete a credential that nothing uses')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteCredential } = await request(
        graphql(`mutation CredentialDelete($id: ID!) {
          deleteCredential(id: $id) { __typename ... on Deleted { id } ... on Error { code message } }
        }`),
        { id: await credentialId(name) },
      )
      orThrow(deleteCredential)
      process.stderr.write(`Deleted ${name}.\n`)
    })
