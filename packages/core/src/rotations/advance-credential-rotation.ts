import { and, eq, inArray, isNull, not, notInArray, type SQL, sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { audit, changeOf } from '../audit/index.ts'
import { encryptSecrets } from '../credentials/index.ts'
import { type Credential, credentials } from '../credentials/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { rotationAudit } from './audit-actions.ts'
import { credentialRotationChanged } from './change-events.ts'
import { isClaimedBy } from './claim-credential-rotation.ts'
import { rotationPermissions } from './permissions.ts'
import type { RotationStep } from './record-rotation-host.ts'
import { addHosts, nodesOf } from './rotate-credential.ts'
import { type CredentialRotation, credentialRotationHosts, credentialRotations, type RotationSecrets } from './tables.ts'

export type RotationWork = { step: RotationStep; hosts: { id: string; nodeId: string }[] }

/** Nodes of one round of work. */
const ROUND = 200
const hosts = credentialRotationHosts

/**
 * Decides what comes next: nodes that need a step, the switch of the credential to its new secret, a pause, or the end. The caller
 * has finished its previous round.
 * @param token of the caller's claim
 * @returns the next nodes; null when the rotation is paused or ended, or another execution has it
 */
export async function advanceCredentialRotation(
  ctx: Ctx,
  { id, token }: { id: string; token: string },
  secrets: RotationSecrets,
): Promise<RotationWork | null> {
  authorize(ctx, rotationPermissions.report)
  const [found] = await ctx.db
    .select()
    .from(credentialRotations)
    .where(and(visibleTo(ctx, credentialRotations), eq(credentialRotations.id, id)))
  if (!found) return null
  // Encryption reads the newest key, so it is outside the transaction.
  const leftId = uuidv7()
  const [next, left] = await Promise.all([
    encryptSecrets(ctx.vault, ctx.tenantId, found.credentialId, secrets.next),
    encryptSecrets(ctx.vault, ctx.tenantId, leftId, secrets.previous),
  ])
  return inTransaction(ctx, async (tx, ctx) => {
    // The nodes of a locked credential do not change: assigning it to a node locks it too.
    const [credential] = await tx
      .select()
      .from(credentials)
      .where(and(visibleTo(ctx, credentials), eq(credentials.id, found.credentialId)))
      .for('update')
    const [rotation] = await tx
      .select()
      .from(credentialRotations)
      .where(isClaimedBy(ctx, id, token))
      .for('update')
    if (!credential || !rotation) return null
    const of = (more: SQL | undefined) => and(visibleTo(ctx, hosts), eq(hosts.rotationId, id), more)
    const pending = async (step: RotationStep, condition: SQL | undefined): Promise<RotationWork | null> => {
      const rows = await tx
        .select({ id: hosts.id, nodeId: hosts.nodeId })
        .from(hosts)
        .where(of(and(isNull(hosts.error), condition)))
        .orderBy(hosts.id)
        .limit(ROUND)
      return rows.length > 0 ? { step, hosts: rows } : null
    }
    const failed = () => tx.$count(hosts, of(sql`${hosts.error} is not null`))
    const pause = () => set({ pausedAt: sql`now()`, claimToken: null, touchedAt: null })
    const set = async (changes: object) => {
      await tx.update(credentialRotations).set(changes).where(eq(credentialRotations.id, id))
      ctx.notify(credentialRotationChanged({ id, tenantId: ctx.tenantId }))
    }
    const finish = async (failedCount: number) => {
      await set({ finishedAt: sql`now()`, encrypted: {}, failedCount })
      await audit(
        tx,
        ctx,
        rotationAudit.finish,
        { id: credential.id, name: credential.name },
        { failedCount, isCanceled: !!rotation.cancelRequestedAt },
      )
      return null
    }

    if (rotation.switchedAt) {
      if (rotation.publicKey && !(await isKeyUsedElsewhere(tx, ctx, rotation))) {
        const work = await pending('REMOVE', and(sql`${hosts.installedAt} is not null`, isNull(hosts.doneAt)))
        if (work) return work
      }
      return finish(await failed())
    }
    if (rotation.cancelRequestedAt) {
      const work = await pending('RESTORE', and(isNull(hosts.restoredAt), sql`${hosts.attemptedAt} is not null`))
      if (work) return work
      const failedCount = await failed()
      // A key that was not removed does no harm. A node with a password other than the credential's is locked out.
      if (failedCount === 0 || rotation.publicKey) return finish(failedCount)
      await pause()
      return null
    }
    const nodeIds = await nodesOf(tx, ctx, credential.id)
    // Nodes that no longer use the credential and were not changed.
    await tx
      .delete(hosts)
      .where(of(and(isNull(hosts.attemptedAt), nodeIds.length > 0 ? notInArray(hosts.nodeId, nodeIds) : undefined)))
    await addHosts(tx, ctx, id, nodeIds)
    const work = await pending('INSTALL', isNull(hosts.installedAt))
    if (work) {
      const ids = work.hosts.map((host) => host.id)
      await tx
        .update(hosts)
        .set({ attemptedAt: sql`coalesce(${hosts.attemptedAt}, now())` })
        .where(of(isOneOf(hosts.id, ids)))
      return work
    }
    const failedCount = await failed()
    if (failedCount > 0 && !rotation.completeRequestedAt) {
      await pause()
      return null
    }
    const leftCredentialId =
      failedCount > 0 ? await moveFailedNodes(tx, ctx, rotation, credential, { id: leftId, encrypted: left }) : null
    const [switched] = await tx
      .update(credentials)
      .set({ encrypted: next, ...(rotation.publicKey ? { publicKey: rotation.publicKey } : {}), updatedAt: sql`now()` })
      .where(eq(credentials.id, credential.id))
      .returning()
    await set({ switchedAt: sql`now()`, leftCredentialId })
    const change = changeOf(credentials, credential, switched!)
    await audit(tx, ctx, rotationAudit.switch, { id: credential.id, name: credential.name }, { failedCount }, { change })
    // A password is replaced at once.
    if (!rotation.publicKey)
      await tx
        .update(hosts)
        .set({ doneAt: sql`now()` })
        .where(of(isNull(hosts.error)))
    return { step: 'REMOVE', hosts: [] }
  })
}

/** Moves the failed nodes to a new credential with the previous secret, so that they stay reachable. @returns its ID */
async function moveFailedNodes(
  tx: Tx,
  ctx: Ctx,
  rotation: CredentialRotation,
  credential: Credential,
  left: Pick<Credential, 'id' | 'encrypted'>,
): Promise<string> {
  const { createdAt: _created, updatedAt: _updated, ...same } = credential
  const name = `${credential.name.slice(0, 60)} (before ${rotation.createdAt.toISOString().slice(0, 19).replace('T', ' ')})`
  await tx.insert(credentials).values({
    ...same,
    ...left,
    name,
    description: `Previous secret of ${credential.name}, for nodes on which its rotation failed.`,
  })
  const failedNodes = tx
    .select({ id: hosts.nodeId })
    .from(hosts)
    .where(and(eq(hosts.rotationId, rotation.id), sql`${hosts.error} is not null`))
  const moved = await tx
    .update(computeNodes)
    .set({ credentialId: left.id, updatedAt: sql`now()` })
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.credentialId, credential.id), inArray(computeNodes.id, failedNodes)))
    .returning({ id: computeNodes.id })
  for (const node of moved) ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
  return left.id
}

/** Whether another credential has the previous key: it may open the same account. */
const isKeyUsedElsewhere = async (
  tx: Tx,
  ctx: Ctx,
  { previousPublicKey, leftCredentialId }: CredentialRotation,
): Promise<boolean> =>
  previousPublicKey !== null &&
  (await tx.$count(
    credentials,
    and(
      visibleTo(ctx, credentials),
      sql`split_part(${credentials.publicKey}, ' ', 2) = ${previousPublicKey.split(' ')[1] ?? ''}`,
      leftCredentialId ? not(eq(credentials.id, leftCredentialId)) : undefined,
    ),
  )) > 0
