import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findCredential } from '../../lookup.ts'
import { type FieldOptions, fields, secrets, withFields } from './fields.ts'

export const credentialUpdate = () =>
  withFields(
    new Command('update')
      .description("change a credential; '' clears a field")
      .argument('<name>')
      .option('--name <name>', 'new name'),
  ).action(async (name: string, options: FieldOptions & { name?: string }) => {
    const { id, kind } = await findCredential(name)
    const hasSecrets = options.keyFile || options.passphrase || options.password || options.secretStdin
    const changes = {
      ...(options.name ? { name: options.name } : {}),
      ...(hasSecrets ? await secrets(kind, options) : {}),
      ...(await fields(options)),
    }
    if (Object.keys(changes).length === 0) throw new CliError('Specify at least one option; see --help.', EXIT.usage)
    const { updateCredential } = await request(
      graphql(`mutation CredentialUpdate($input: UpdateCredentialInput!) {
        updateCredential(input: $input) { __typename ... on UpdateCredentialPayload { credential { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { id, ...changes } },
    )
    process.stderr.write(`Updated ${orThrow(updateCredential).credential.name}.\n`)
  })
