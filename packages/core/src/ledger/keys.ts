import { createPublicKey } from 'node:crypto'
import { verifierKey } from '@muster/ledger'
import type { Vault } from '../kernel/context.ts'
import { signingKey } from '../kernel/signing-key.ts'

/** Name of the log of a tenant, in its checkpoints and keys. */
export const originOf = (tenantId: string): string => `muster-ledger/${tenantId}`

/** The key that signs checkpoints of a tenant, derived from the encryption key of `version`. */
export const ledgerSigningKey = (vault: Vault, tenantId: string, version: number) =>
  signingKey(vault, `ledger checkpoint ${tenantId}`, version)

/** The public key for checkpoints of a tenant, as the verifier key of a signed note. */
export async function ledgerVerifierKey(vault: Vault, tenantId: string, version: number): Promise<string> {
  const publicKey = createPublicKey(await ledgerSigningKey(vault, tenantId, version)).export({ format: 'der', type: 'spki' })
  return verifierKey({ name: originOf(tenantId), publicKey: publicKey.subarray(-32) })
}
