import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { oneOf } from '../../options.ts'
import { type FieldOptions, fields, type Kind, secrets, withFields } from './fields.ts'

export const credentialAdd = () =>
  withFields(
    new Command('add')
      .description('keep a key or password, sealed; secrets are asked for or read, never given as arguments')
      .argument('<name>')
      .requiredOption(
        '-k, --kind <kind>',
        'what it is: SSH_KEY, SSH_PASSWORD, BASTION, BECOME or GIT',
        oneOf('SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME', 'GIT'),
      ),
  ).action(async (name: string, options: FieldOptions & { kind: Kind }) => {
    const { kind } = options
    const { createCredential } = await request(
      graphql(`mutation CredentialAdd($input: CreateCredentialInput!) {
        createCredential(input: $input) { __typename ... on Credential { name kind } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { name, kind, ...(await secrets(kind, options)), ...(await fields(options)) } },
    )
    const made = orThrow(createCredential)
    process.stderr.write(`Kept ${made.name} (${made.kind}).\n`)
  })
