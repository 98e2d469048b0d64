import { rewriteSecondFactors } from '@muster/core/access'
import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto'

/** Encrypts the secrets of authenticator apps and the recovery codes, which better-auth encrypted with `from`, with `to`. */
export const reencryptSecondFactors = (db: Parameters<typeof rewriteSecondFactors>[0], from: string, to: string): Promise<void> =>
  rewriteSecondFactors(db, async (data) => symmetricEncrypt({ key: to, data: await symmetricDecrypt({ key: from, data }) }))
