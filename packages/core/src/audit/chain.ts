import { createHash, createPublicKey, sign, verify } from 'node:crypto'
import { getColumns, sql } from 'drizzle-orm'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { Vault } from '../kernel/context.ts'
import { signingKey } from '../kernel/signing-key.ts'
import { type AuditCheckpoint, type AuditEntry, auditEntries } from './tables.ts'

/** Hash before the first row of a chain. */
export const GENESIS = '0'.repeat(64)

const { createdAt: _createdAt, ...columns } = getColumns(auditEntries)
/** Columns of a row in hashes and exports: `createdAt` is a text in UTC with microseconds. */
export const CHAIN_COLUMNS = {
  ...columns,
  createdAt: sql<string>`to_char(${auditEntries.createdAt} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
}
export type ChainRow = Omit<AuditEntry, 'createdAt'> & { createdAt: string }

/** The chain hash of a row: SHA-256 of its predecessor's hash, a line feed, and all other columns as canonical JSON (RFC 8785). */
export function chainHash(previous: string, row: ChainRow): string {
  const { hash: _hash, ...content } = row
  return createHash('sha256')
    .update(`${previous}\n${canonicalJson(content)}`)
    .digest('hex')
}

type Statement = Pick<AuditCheckpoint, 'tenantId' | 'kind' | 'seq' | 'hash' | 'keyVersion'>
/** The text that a checkpoint signs. */
const statementText = ({ tenantId, kind, seq, hash, keyVersion }: Statement): Buffer =>
  Buffer.from(canonicalJson({ tenantId, kind, seq, hash, keyVersion }))

/** The key that signs checkpoints, derived from the encryption key of `version`. */
const checkpointKey = (vault: Vault, version: number) => signingKey(vault, 'audit checkpoint', version)

/** The public key that verifies checkpoints of `version`, in PEM. */
export const verificationKey = async (vault: Vault, version: number): Promise<string> =>
  createPublicKey(await checkpointKey(vault, version))
    .export({ format: 'pem', type: 'spki' })
    .toString()

/** Signs a checkpoint with the newest key. */
export async function signCheckpoint(vault: Vault, statement: Omit<Statement, 'keyVersion'>, keyVersion: number) {
  const complete = { ...statement, keyVersion }
  const signature = sign(null, statementText(complete), await checkpointKey(vault, keyVersion)).toString('base64')
  return { ...complete, signature }
}

/** Whether a checkpoint was signed by this installation and not changed. */
export async function isSigned(vault: Vault, checkpoint: AuditCheckpoint): Promise<boolean> {
  try {
    const key = createPublicKey(await checkpointKey(vault, checkpoint.keyVersion))
    return verify(null, statementText(checkpoint), key, Buffer.from(checkpoint.signature, 'base64'))
  } catch {
    return false
  }
}
