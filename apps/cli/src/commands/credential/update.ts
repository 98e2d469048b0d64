import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findCredential } from '../../ids.ts'
import { type FieldOptions, fields, secrets, withFields } from './fields.ts'

export const credentialUpdate = () =>
  withFields(
    new Command('update')
      .description("change what is given of a credential, for example its password; an option given as '' takes away")
      .argument('<name>')
      .option('--name <name>', 'another name'),
  ).action(async (name: string, options: FieldOptions & { name?: string }) => {
    const { id, kind } = await findCredential(name)
    const hasSecrets = options.keyFile || options.passphrase || options.password || options.secretStdin
    const changes = {
      ...(options.name ? { name: options.name } : {}),
      ...(hasSecrets ? await secrets(kind, options) : {}),
      ...(await fields(options)),
    }
    if (Object.keys(changes).length === 0) throw new CliError('Nothing is to be changed; see --help for what can be.', EXIT.usage)
    const { updateCredential } = await request(
      graphql(`mutation CredentialUpdate($input: UpdateCredentialInput!) {
        updateCredential(input: $input) { __typename ... on Credential { name } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { id, ...changes } },
    )
    process.stderr.write(`Changed ${orThrow(updateCredential).name}.\n`)
  })
