import { z } from 'zod'
import type { Ctx, Tx } from '../kernel/context.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { CaCertificate } from '../kernel/outbound/index.ts'
import { lockCredential } from './fields.ts'
import type { SlurmrestdColumns } from './tables.ts'

/** slurmrestd, from which refreshes read nodes and jobs: at a socket or at the URL of a credential. */
export const SLURMRESTD_FIELDS = {
  /** A Unix socket on the host of the controller. sockaddr_un has room for 107 characters. */
  slurmrestdSocket: z
    .string()
    .regex(/^\/[A-Za-z0-9._+/-]{1,106}$/, 'must be an absolute path such as /run/slurmrestd/slurmrestd.socket')
    .nullish(),
  /** A credential of the kind SLURMRESTD. */
  slurmrestdCredentialId: Id.nullish(),
  slurmrestdCaCertificate: CaCertificate.nullish(),
}
type SlurmrestdFields = z.output<z.ZodObject<typeof SLURMRESTD_FIELDS>>

/**
 * The columns after a change: a socket replaces a credential, and the reverse. Locks the credential until the transaction ends.
 * @throws InvalidInput
 */
export async function slurmrestdColumns(
  tx: Tx,
  ctx: Ctx,
  { slurmrestdSocket: socket, slurmrestdCredentialId: credentialId, slurmrestdCaCertificate: ca }: SlurmrestdFields,
  before?: SlurmrestdColumns,
): Promise<SlurmrestdColumns> {
  if (socket != null && credentialId != null)
    throw new InvalidInput([{ path: 'slurmrestdSocket', message: 'cannot be combined with a credential; set one of them' }])
  const slurmrestdSocket = socket === undefined && credentialId == null ? (before?.slurmrestdSocket ?? null) : (socket ?? null)
  const slurmrestdCredentialId =
    credentialId === undefined && socket == null ? (before?.slurmrestdCredentialId ?? null) : (credentialId ?? null)
  if (slurmrestdCredentialId === null) {
    const message = 'requires a credential of the kind SLURMRESTD'
    if (ca != null) throw new InvalidInput([{ path: 'slurmrestdCaCertificate', message }])
    return { slurmrestdSocket, slurmrestdCredentialId, slurmrestdCaCertificate: null }
  }
  if (slurmrestdCredentialId !== before?.slurmrestdCredentialId)
    await lockCredential(tx, ctx, 'slurmrestdCredentialId', slurmrestdCredentialId, 'SLURMRESTD')
  const slurmrestdCaCertificate = ca === undefined ? (before?.slurmrestdCaCertificate ?? null) : ca
  return { slurmrestdSocket: null, slurmrestdCredentialId, slurmrestdCaCertificate }
}
