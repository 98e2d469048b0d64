import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { oneOf } from '../../options.ts'
import { type FieldOptions, fields, type Kind, secrets, withFields } from './fields.ts'

export const credentialAdd = () =>
  withFields(
    new Command('add')
      .description('add a credential; asks for its secrets, which are stored encrypted')
      .argument('<name>')
      .requiredOption(
        '-k, --kind <kind>',
        'SSH_KEY, SSH_PASSWORD, BASTION, BECOME, GIT, SALT, SLURMRESTD or BMC',
        oneOf('SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME', 'GIT', 'SALT', 'SLURMRESTD', 'BMC'),
      ),
  ).action(async (name: string, options: FieldOptions & { kind: Kind }) => {
    const { kind } = options
    const { createCredential } = await request(
      graphql(`mutation CredentialAdd($input: CreateCredentialInput!) {
        createCredential(input: $input) { __typename ... on CreateCredentialPayload { credential { name kind } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { name, kind, ...(await secrets(kind, options)), ...(await fields(options)) } },
    )
    const { credential } = orThrow(createCredential)
    process.stderr.write(`Added ${credential.name} (${credential.kind}).\n`)
  })
