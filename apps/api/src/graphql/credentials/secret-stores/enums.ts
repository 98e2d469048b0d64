import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const SecretStoreAuth = builder.enumType('SecretStoreAuth', {
  description: 'How Muster signs in to a secret store.',
  values: same({ TOKEN: 'With a token.', APP_ROLE: 'With the role ID and secret ID of an AppRole at auth/approle.' }),
})
