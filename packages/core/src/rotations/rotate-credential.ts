import { randomInt } from 'node:crypto'
import { and, eq, isNull } from 'drizzle-orm'
import ssh2 from 'ssh2'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { audit, changeOf } from '../audit/index.ts'
import { checkPrivateKey, credentialAudit, encryptSecrets } from '../credentials/index.ts'
import { type Credential, credentials } from '../credentials/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { computeNodes } from '../nodes/tables.ts'
import { credentialRotationChanged } from './change-events.ts'
import { findRotationFacts } from './find-rotation-facts.ts'
import { rotationPermissions } from './permissions.ts'
import { rotateBlockedReason } from './policy.ts'
import { credentialRotationQueue } from './queues.ts'
import { type CredentialRotation, credentialRotationHosts, credentialRotations } from './tables.ts'

export const RotateCredentialInput = z.object({
  id: Id,
  /** SSH_KEY only. Default: a new Ed25519 key. */
  privateKey: z.string().min(1).max(64_000).nullish(),
  passphrase: z.string().min(1).max(4096).nullish(),
  /** SSH_PASSWORD only. Default: a random one. */
  password: z
    .string()
    .min(1)
    .max(4096)
    .regex(/^[\x20-\x7e]+$/, 'must be one line of printable ASCII')
    .nullish(),
  idempotencyKey: IdempotencyKey,
})

const PASSWORD_LENGTH = 32
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Starts to replace the secret of a credential on every node that uses it. A worker installs the new secret on each node and logs in
 * with it. After success on all nodes, the credential gets the new secret, and the previous key is removed from the nodes. When a
 * node fails, the rotation pauses: no node is locked out, and the user resumes, cancels, or completes it without the failed nodes.
 * @throws NotFound, InvalidInput
 * @throws Conflict the kind cannot be rotated, a rotation is in progress, no node uses the credential, or sudo needs the password
 */
export async function rotateCredential(ctx: Ctx, input: z.input<typeof RotateCredentialInput>): Promise<CredentialRotation> {
  authorize(ctx, rotationPermissions.write)
  const { idempotencyKey, ...given } = parseInput(RotateCredentialInput, input)
  const { id: credentialId } = given
  const [known] = await ctx.db
    .select()
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), eq(credentials.id, credentialId)))
  if (!known) throw new NotFound(`There is no credential ${credentialId}.`)
  const secret = newSecret(known, given)
  const rotationId = uuidv7()
  const encrypted = await encryptSecrets(ctx.vault, ctx.tenantId, rotationId, secret)
  return idempotent(
    ctx,
    { verb: 'rotateCredential', key: idempotencyKey, input: given, hasSecrets: true, result: oneRow(credentialRotations) },
    async (tx, ctx) => {
      const scope = and(visibleTo(ctx, credentials), eq(credentials.id, credentialId))
      const [credential] = await tx.select().from(credentials).where(scope).for('no key update')
      if (!credential) throw new NotFound(`There is no credential ${credentialId}.`)
      const facts = await findRotationFacts(tx, ctx, [credentialId])
      const reason = rotateBlockedReason(credential, facts.get(credentialId)!)
      if (reason) throw new Conflict(reason)
      const nodeIds = await nodesOf(tx, ctx, credentialId)
      const [rotation] = await tx
        .insert(credentialRotations)
        .values({
          id: rotationId,
          tenantId: ctx.tenantId,
          credentialId,
          name: credential.name,
          encrypted,
          publicKey: secret.publicKey ?? null,
          previousPublicKey: credential.publicKey,
          ...createdBy(ctx),
        })
        .returning()
      await addHosts(tx, ctx, rotationId, nodeIds)
      await ctx.queue.send(tx, credentialRotationQueue, [{ id: rotationId, tenantId: ctx.tenantId }])
      const change = changeOf(credentialRotations, null, rotation!)
      await audit(tx, ctx, credentialAudit.rotate, { ...rotation!, id: credentialId }, { nodes: nodeIds.length }, { change })
      ctx.notify(credentialRotationChanged({ id: rotationId, tenantId: ctx.tenantId }))
      return rotation!
    },
  )
}

/** IDs of the nodes that log in with a credential over SSH. */
export async function nodesOf(tx: Tx, ctx: Ctx, credentialId: string): Promise<string[]> {
  const rows = await tx
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        eq(computeNodes.credentialId, credentialId),
        eq(computeNodes.connectionType, 'ssh'),
        isNull(computeNodes.decommissionedAt),
      ),
    )
    .orderBy(computeNodes.id)
  return rows.map(({ id }) => id)
}

const CHUNK = 5000

export async function addHosts(tx: Tx, ctx: Ctx, rotationId: string, nodeIds: string[]): Promise<void> {
  for (let i = 0; i < nodeIds.length; i += CHUNK)
    await tx
      .insert(credentialRotationHosts)
      .values(nodeIds.slice(i, i + CHUNK).map((nodeId) => ({ tenantId: ctx.tenantId, rotationId, nodeId })))
      .onConflictDoNothing()
}

type NewSecret = { privateKey?: string; passphrase?: string; password?: string; publicKey?: string }

function newSecret({ kind, name }: Credential, given: Omit<z.output<typeof RotateCredentialInput>, 'idempotencyKey'>): NewSecret {
  const unexpected = kind === 'SSH_PASSWORD' ? (['privateKey', 'passphrase'] as const) : (['password'] as const)
  const issues = unexpected
    .filter((field) => given[field] != null)
    .map((path) => ({ path, message: `is not used for a credential of the kind ${kind}` }))
  if (given.passphrase && !given.privateKey) issues.push({ path: 'passphrase', message: 'requires a private key' })
  if (issues.length > 0) throw new InvalidInput(issues)
  if (kind !== 'SSH_KEY') return { password: given.password ?? makePassword() }
  if (!given.privateKey) return makeKey(name)
  const { privateKey, publicKey } = checkPrivateKey(given.privateKey, given.passphrase ?? undefined)
  return { privateKey, publicKey, ...(given.passphrase ? { passphrase: given.passphrase } : {}) }
}

const makePassword = (): string => Array.from({ length: PASSWORD_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

function makeKey(name: string): NewSecret {
  const comment = `muster ${name.replace(/[^\w.-]+/g, '-')}`
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    // About one key in 400 that ssh2 generates is malformed.
    if (ssh2.utils.parseKey(pair.private) instanceof Error) continue
    const { privateKey, publicKey } = checkPrivateKey(pair.private, undefined)
    return { privateKey, publicKey }
  }
}
