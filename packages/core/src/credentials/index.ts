export type { Vault } from '../context.ts'
export { whyNotPassBastions } from './bastions.ts'
export { CreateCredentialInput, createCredential } from './create-credential.ts'
export { CreateSecretStoreInput, createSecretStore } from './create-secret-store.ts'
export { type CredentialKey, credentialKey } from './credential-key.ts'
export { deleteCredential } from './delete-credential.ts'
export { deleteSecretStore } from './delete-secret-store.ts'
export { changeMasterPassword, type DeriveKey, openVault } from './open-vault.ts'
export { whyNotDelete, whyNotOpenRepository, whyNotRotate } from './policy.ts'
export { resealCredentials } from './reseal-credentials.ts'
export { rotateCredentialKey } from './rotate-credential-key.ts'
export {
  CREDENTIAL_KINDS,
  type Credential,
  type CredentialKind,
  credentials,
  SECRET_FIELDS,
  SECRET_STORE_AUTHS,
  type SecretField,
  type SecretStore,
  secretStores,
} from './tables.ts'
export { UpdateCredentialInput, updateCredential } from './update-credential.ts'
export { UpdateSecretStoreInput, updateSecretStore } from './update-secret-store.ts'
