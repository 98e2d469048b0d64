import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { type CredentialKind, credentials } from '../credentials/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'

/** Folder of programs on a host: an absolute path without characters that need quoting. */
export const ProgramFolder = z.string().regex(/^\/[A-Za-z0-9._+/-]{1,200}$/, 'must be an absolute path such as /opt/slurm/bin')

/** Fields of a cluster that users set. */
export const CLUSTER_FIELDS = {
  name: singleLineText(63),
  region: singleLineText(100).nullish(),
  controllerNodeId: Id,
  backupNodeId: Id.nullish(),
  programFolder: ProgramFolder.nullish(),
  maxNodes: z.int().min(1).max(100_000).nullish(),
}

/**
 * Locks the credential that the field refers to until the transaction ends.
 * @throws InvalidInput it does not exist or has another kind
 */
export async function lockCredential(tx: Tx, ctx: Ctx, path: string, id: string, kind: CredentialKind): Promise<void> {
  const scope = and(visibleTo(ctx, credentials), eq(credentials.id, id))
  const [credential] = await tx.select({ kind: credentials.kind }).from(credentials).where(scope).for('key share')
  const message = credential
    ? `must be a credential of the kind ${kind}; this one has the kind ${credential.kind}`
    : `There is no credential ${id}.`
  if (credential?.kind !== kind) throw new InvalidInput([{ path, message }])
}
