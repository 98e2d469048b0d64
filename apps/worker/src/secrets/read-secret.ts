import type { ReadSecret } from '@muster/core/credentials'
import { readAwsSecret } from './read-aws-secret.ts'
import { createReadVaultSecret } from './read-vault-secret.ts'

/** Timeout of one request, in milliseconds. */
const TIMEOUT_MS = 5000

/** Reads from secret stores of every kind. Messages and logs contain only the meaning of a response, never its body. */
export function createReadSecret(timeoutMs = TIMEOUT_MS): ReadSecret {
  const readVaultSecret = createReadVaultSecret(timeoutMs)
  return (store, path) =>
    store.kind === 'AWS_SECRETS_MANAGER' ? readAwsSecret(store, path, timeoutMs) : readVaultSecret(store, path)
}
