import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { type StoreOptions, storeFields, storeId, storeSecret, withStoreFields } from './fields.ts'

export const secretStoreUpdate = () =>
  withStoreFields(
    new Command('update')
      .description("change a secret store; '' clears a field")
      .argument('<name>')
      .option('--address <address>', 'new address; asks for the secret')
      .option('--secret', 'ask for a new token or secret ID'),
  ).action(async (name: string, options: StoreOptions & { address?: string; secret?: true }) => {
    const { address } = options
    const needsSecret = options.secret || options.secretStdin || address || options.auth
    const { updateSecretStore } = await request(
      graphql(`mutation SecretStoreUpdate($input: UpdateSecretStoreInput!) {
        updateSecretStore(input: $input) { __typename ... on UpdateSecretStorePayload { secretStore { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      {
        input: {
          id: await storeId(name),
          ...(address ? { address } : {}),
          ...storeFields(options),
          ...(needsSecret ? { secret: await storeSecret(options) } : {}),
        },
      },
    )
    process.stderr.write(`Updated ${orThrow(updateSecretStore).secretStore.name}.\n`)
  })
