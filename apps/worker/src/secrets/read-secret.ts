import type { ReadSecret } from '@muster/core/credentials'
import type { LocalTarget } from '@muster/core/outbound'
import { readAwsSecret } from './read-aws-secret.ts'
import { createReadVaultSecret } from './read-vault-secret.ts'

/** Timeout of one request, in milliseconds. */
const TIMEOUT_MS = 5000

/** Reads from secret stores of every kind. Messages and logs contain only the meaning of a response, never its body. */
export function createReadSecret(localTargets: readonly LocalTarget[], timeoutMs = TIMEOUT_MS): ReadSecret {
  const limits = { localTargets, timeoutMs }
  const readVaultSecret = createReadVaultSecret(limits)
  return (store, path) =>
    store.kind === 'AWS_SECRETS_MANAGER' ? readAwsSecret(store, path, limits) : readVaultSecret(store, path)
}
