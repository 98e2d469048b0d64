import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const SecretStoreAuth = builder.enumType('SecretStoreAuth', {
  description: 'Authentication method of a secret store.',
  values: same({ TOKEN: 'Token.', APP_ROLE: 'AppRole at `auth/approle`, with role ID and secret ID.' }),
})
