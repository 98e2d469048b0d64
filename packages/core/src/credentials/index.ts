export {
  type ApiLogin,
  type BmcLogin,
  type GitLogin,
  type Hop,
  type Login,
  type NodeAccess,
  openApiLogin,
  openBmcLogin,
  openGitLogin,
  readCredentialVersion,
  resolveNodeAccess,
} from './access.ts'
export { credentialAudit, secretStoreAudit } from './audit-actions.ts'
export { unapprovedBastionReasons, unapprovedHopReason } from './bastions.ts'
export { credentialKeyRotated } from './change-events.ts'
export { CreateCredentialInput, createCredential, DEFAULT_PORTS, encryptSecrets } from './create-credential.ts'
export { type CredentialKey, credentialKey } from './credential-key.ts'
export { decryptRunSecrets } from './decrypt-run-secrets.ts'
export { decryptSecretVars } from './decrypt-secret-vars.ts'
export { decryptRouteSecrets, decryptSinkSecrets } from './decrypt-target-secrets.ts'
export { deleteCredential } from './delete-credential.ts'
export { FIELDS as CREDENTIAL_FIELDS } from './fields.ts'
export { changeMasterPassword, type DeriveKey, openVault } from './open-vault.ts'
export { credentialPermissions } from './permissions.ts'
export { deleteBlockedReason, repositoryBlockedReason, rotateBlockedReason } from './policy.ts'
export { checkPrivateKey } from './private-key.ts'
export { reencryptCredentials } from './reencrypt-credentials.ts'
export { rotateCredentialKey } from './rotate-credential-key.ts'
export type { OpenStore, ReadSecret } from './secret-source.ts'
export { CreateSecretStoreInput, createSecretStore } from './secret-stores/create-secret-store.ts'
export { deleteSecretStore } from './secret-stores/delete-secret-store.ts'
export { UpdateSecretStoreInput, updateSecretStore } from './secret-stores/update-secret-store.ts'
export { credentialKeySettings, masterPasswordSettings, takeMasterPassword } from './settings.ts'
export {
  CREDENTIAL_KINDS,
  type Credential,
  type CredentialKind,
  credentials,
  SECRET_FIELDS,
  SECRET_STORE_AUTHS,
  SECRET_STORE_KINDS,
  type SecretField,
  type SecretStore,
  secretStores,
} from './tables.ts'
export { UpdateCredentialInput, updateCredential } from './update-credential.ts'
