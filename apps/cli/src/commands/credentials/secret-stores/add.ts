import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { type StoreOptions, storeFields, storeSecret, withStoreFields } from './fields.ts'

export const secretStoreAdd = () =>
  withStoreFields(
    new Command('add')
      .description('add a HashiCorp Vault, an OpenBao or an AWS Secrets Manager')
      .argument('<name>')
      .argument('[address]', 'https://HOST[:PORT]; default for AWS: the endpoint of the region'),
  ).action(async (name: string, address: string | undefined, options: StoreOptions) => {
    const { createSecretStore } = await request(
      graphql(`mutation SecretStoreAdd($input: CreateSecretStoreInput!) {
        createSecretStore(input: $input) { __typename ... on CreateSecretStorePayload { secretStore { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      {
        input: {
          name,
          ...(address ? { address } : {}),
          kind: options.auth === 'ACCESS_KEY' ? ('AWS_SECRETS_MANAGER' as const) : ('VAULT' as const),
          auth: 'TOKEN' as const,
          ...storeFields(options),
          secret: await storeSecret(options),
        },
      },
    )
    process.stderr.write(`Added ${orThrow(createSecretStore).secretStore.name}.\n`)
  })
