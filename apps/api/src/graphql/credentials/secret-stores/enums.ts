import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const SecretStoreKind = builder.enumType('SecretStoreKind', {
  description: 'Kind of a secret store.',
  values: same({
    VAULT: 'HashiCorp Vault or OpenBao, KV engine version 2.',
    AWS_SECRETS_MANAGER:
      'AWS Secrets Manager. A path is the name or ARN of a secret; a secret that is not a JSON object has the key `SecretString`.',
  }),
})

export const SecretStoreAuth = builder.enumType('SecretStoreAuth', {
  description: 'Authentication method of a secret store.',
  values: same({
    TOKEN: 'VAULT: token.',
    APP_ROLE: 'VAULT: AppRole at `auth/approle`, with role ID and secret ID.',
    ACCESS_KEY: 'AWS_SECRETS_MANAGER: access key ID and secret access key.',
  }),
})
