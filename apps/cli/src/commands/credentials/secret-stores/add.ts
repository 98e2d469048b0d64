import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { type StoreOptions, storeFields, storeSecret, withStoreFields } from './fields.ts'

export const secretStoreAdd = () =>
  withStoreFields(
    new Command('add')
      .description('add a HashiCorp Vault or OpenBao server')
      .argument('<name>')
      .argument('<address>', 'https://HOST[:PORT]'),
  ).action(async (name: string, address: string, options: StoreOptions) => {
    const { createSecretStore } = await request(
      graphql(`mutation SecretStoreAdd($input: CreateSecretStoreInput!) {
        createSecretStore(input: $input) { __typename ... on CreateSecretStorePayload { secretStore { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { name, address, auth: 'TOKEN' as const, ...storeFields(options), secret: await storeSecret(options) } },
    )
    process.stderr.write(`Added ${orThrow(createSecretStore).secretStore.name}.\n`)
  })
