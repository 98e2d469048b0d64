import {
  encodeProof,
  InvalidKeyError,
  publicKey,
  RegisterRequest,
  type RegisterRequest as Request,
  verify,
} from '@muster/protocol'
import { and, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { raiseAlerts } from '../alerts/index.ts'
import { audit, changeOf } from '../audit/index.ts'
import { authorize, type Ctx, createdBy, inTransaction, type SystemCtx, type Tx, tenantCtx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { agentAudit } from './audit-actions.ts'
import { hashEnrollmentToken } from './create-enrollment-token.ts'
import { type Caller, enroll, type Registration, recordTransition, reject, updateLocation } from './enroll-agent.ts'
import { agentPermissions } from './permissions.ts'
import { resetSequence } from './reset-agent-sequence.ts'
import { revokeKeysOf } from './revoke-agent-key.ts'
import { type Agent, type AgentKey, agentEnrollmentTokens, agentKeys, agents } from './tables.ts'

const PROOF_WINDOW_MS = 5 * 60_000
/** Limits of waiting keys per node, because anyone can offer keys. One address cannot take all places. */
const MAX_WAITING = 6
const MAX_WAITING_PER_ADDRESS = 2

/**
 * Registers an agent with an allowed key or an unused enrollment token. Never replaces a key: another key for a node that has
 * one, and other hardware with the same key, wait for approval.
 * @param from the client's address
 * @throws InvalidInput when the message is not a valid registration
 */
export async function registerAgent(
  services: Omit<SystemCtx, 'actor'>,
  input: z.input<typeof RegisterRequest>,
  from: string | null = null,
): Promise<Registration> {
  const request = parseInput(RegisterRequest, input)
  const proof = checkProof(request)
  if (typeof proof !== 'boolean') return proof
  if (request.enrollment_token && !proof)
    return reject('proof_invalid', 'A registration with a token must be signed with the key. Sign it.')
  const found = await findTenant(services, request)
  if ('code' in found) return found
  const ctx: Ctx = tenantCtx(services, found.tenantId, { kind: 'agent', id: null, name: `agent ${request.node_id}` })
  authorize(ctx, agentPermissions.register)
  return inTransaction(ctx, async (tx, ctx) => {
    // Serializes registrations per name, so that two with the same new name do not both find it free.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`agent ${ctx.tenantId} ${request.node_id}`}, 0))`)
    return registerOrEnroll(tx, ctx, { request, isProven: proof, from })
  })
}

/** Whether the registration is signed with the key, or why it is rejected. */
function checkProof(request: Request) {
  try {
    const key = publicKey(request.agent_pubkey)
    if (!request.proof) return false
    const { signature, timestamp } = request.proof
    if (Math.abs(Date.now() - timestamp * 1000) > PROOF_WINDOW_MS)
      return reject('proof_invalid', 'The time of the proof differs by more than five minutes. Correct the clock of the node.')
    return (
      verify(encodeProof(request, timestamp), signature, key) ||
      reject('proof_invalid', 'The proof is not signed with the key of the registration.')
    )
  } catch (error) {
    if (error instanceof InvalidKeyError) return reject('key_not_allowed', error.message)
    throw error
  }
}

/** The registration's tenant: that of the token, else of the key, else of the only agent with that name. */
async function findTenant(
  { db }: Pick<SystemCtx, 'db'>,
  request: Request,
): Promise<{ tenantId: string } | ReturnType<typeof reject>> {
  const { agent_pubkey: key, node_id: agentId, enrollment_token: token } = request
  if (token) {
    const [row] = await db
      .select()
      .from(agentEnrollmentTokens)
      .where(eq(agentEnrollmentTokens.hash, hashEnrollmentToken(token)))
    return row ?? reject('token_invalid', 'This enrollment token does not exist. Create a new one.')
  }
  const keys = await db
    .select({
      tenantId: agentKeys.tenantId,
      nodeId: agentKeys.nodeId,
      expectedName: sql<string | null>`coalesce(${agents.agentId}, ${agentKeys.agentId}, ${computeNodes.name})`,
    })
    .from(agentKeys)
    .leftJoin(computeNodes, eq(computeNodes.id, agentKeys.nodeId))
    .leftJoin(agents, eq(agents.nodeId, agentKeys.nodeId))
    .where(and(eq(agentKeys.publicKey, key), eq(agentKeys.status, 'ALLOWED')))
    .orderBy(agentKeys.id)
  const bound = keys.find(({ expectedName }) => expectedName === agentId) ?? keys.find(({ nodeId }) => !nodeId)
  if (bound ?? keys[0]) return (bound ?? keys[0])!
  const named = await db
    .select()
    .from(agents)
    .where(and(eq(agents.agentId, agentId), ne(agents.state, 'DEREGISTERED')))
    .limit(2)
  if (named.length === 1) return named[0]!
  return reject('key_not_allowed', 'This key is not allowed. Use an enrollment token, or add the key to the allow-list.')
}

async function registerOrEnroll(tx: Tx, ctx: Ctx, caller: Caller): Promise<Registration> {
  const { request } = caller
  const [key] = await tx
    .select()
    .from(agentKeys)
    .where(and(eq(agentKeys.tenantId, ctx.tenantId), eq(agentKeys.publicKey, request.agent_pubkey)))
    .for('update')
  const [agent] = await tx
    .select()
    .from(agents)
    .where(and(eq(agents.tenantId, ctx.tenantId), eq(agents.agentId, request.node_id)))
    .for('update')
  if (key?.status === 'REVOKED')
    return reject('key_not_allowed', 'This key is revoked. Create a new one with `muster-agent init`.')
  // Checked before the token: an agent that missed our first answer repeats the request with the same token.
  if (agent && agent.state !== 'DEREGISTERED' && key?.status === 'ALLOWED' && key.nodeId === agent.nodeId)
    return registerKnownAgent(tx, ctx, caller, agent, key)
  if (key?.status === 'ALLOWED' && key.nodeId && agent && agent.nodeId !== key.nodeId)
    return reject('key_not_allowed', 'This key belongs to another node. Every node needs its own key.')

  let nodeId = key?.status === 'ALLOWED' ? key.nodeId : null
  if (key?.status !== 'ALLOWED') {
    // A token never replaces an existing agent, so it stays unused for another node.
    if (agent && agent.state !== 'DEREGISTERED') return waitForApproval(tx, ctx, caller, agent, key)
    const token = request.enrollment_token ? await consumeToken(tx, ctx, caller) : null
    if (token && 'code' in token) return token
    if (!token)
      return reject('key_not_allowed', 'This key is not allowed. Use an enrollment token, or add the key to the allow-list.')
    nodeId = token.nodeId
  }
  if (agent && nodeId && nodeId !== agent.nodeId)
    return reject('key_not_allowed', `The agent ${request.node_id} belongs to another node.`)
  // The holder of a key without a node could otherwise become any node.
  if (agent && agent.state !== 'DEREGISTERED')
    return reject('key_not_allowed', `${agent.agentId} has another key. Allow this key for that node.`)
  return enroll(tx, ctx, caller, nodeId ?? agent?.nodeId ?? null, key)
}

/** Uses the token. The conditional update lets only one of two concurrent registrations use it. */
async function consumeToken(tx: Tx, ctx: Ctx, { request, from }: Caller) {
  const hash = hashEnrollmentToken(request.enrollment_token!)
  const [token] = await tx
    .update(agentEnrollmentTokens)
    .set({ usedAt: sql`now()`, usedFrom: from })
    .where(
      and(
        eq(agentEnrollmentTokens.tenantId, ctx.tenantId),
        eq(agentEnrollmentTokens.hash, hash),
        isNull(agentEnrollmentTokens.usedAt),
        isNull(agentEnrollmentTokens.revokedAt),
        gt(agentEnrollmentTokens.expiresAt, sql`now()`),
      ),
    )
    .returning()
  if (!token)
    return reject('token_invalid', 'This enrollment token was already used, has expired or is revoked. Create a new one.')
  return { nodeId: token.nodeId }
}

/** A known agent registers again with its key. Its report counts only when it is signed. */
async function registerKnownAgent(
  tx: Tx,
  ctx: Ctx,
  { request, isProven, from }: Caller,
  agent: Agent,
  key: AgentKey,
): Promise<Registration> {
  const { nodeId } = agent
  if (!isProven && request.cluster_id !== agent.cluster)
    return reject(
      'cluster_mismatch',
      `${request.node_id} is registered in the cluster ${agent.cluster}. Deregister it to enroll it in another one.`,
    )
  const fingerprint = isProven ? (request.hardware_fingerprint ?? null) : null
  const isOtherMachine = fingerprint !== null && agent.fingerprint !== null && fingerprint !== agent.fingerprint
  const isBack = isProven && agent.state === 'OFFLINE' && !isOtherMachine
  const [changed] = await tx
    .update(agents)
    .set({
      // An unsigned registration replaces only a key that is no longer valid; otherwise anyone could reverse a rotation.
      keyId: isProven
        ? key.id
        : sql`coalesce((select k.id from ${agentKeys} k where k.id = ${agents.keyId} and k.status = 'ALLOWED'), ${key.id})`,
      ...(isProven ? { cluster: request.cluster_id, version: request.agent_version ?? agent.version, seenFrom: from } : {}),
      // An unsigned registration could come from anyone and would hide a dead node.
      ...(isProven ? { registeredAt: sql`now()` } : {}),
      ...(isOtherMachine ? { offeredFingerprint: fingerprint, offeredFingerprintAt: sql`now()` } : {}),
      ...(fingerprint && !agent.fingerprint ? { fingerprint } : {}),
      ...(isBack ? { state: 'PENDING', stateSince: sql`now()`, stateReason: 'registered_again' } : {}),
    })
    .where(eq(agents.nodeId, nodeId))
    .returning()
  // Completes a key rotation: the previous key is no longer needed.
  if (isProven && key.id !== agent.keyId) await revokeKeysOf(tx, ctx, nodeId, 'the agent registered with another key', key.id)
  if (isProven) await updateLocation(tx, request, nodeId)
  if (isBack) await recordTransition(tx, ctx, nodeId, 'OFFLINE', 'registered_again', from)
  await resetSequence(tx, nodeId, 'without an epoch')
  ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
  if (!isOtherMachine) return { isAccepted: true, nodeId }
  const change = changeOf(agents, agent, changed!)
  await audit(tx, ctx, agentAudit.offerFingerprint, { id: nodeId, name: agent.agentId }, { fingerprint, from }, { change })
  const alert = {
    tenantId: ctx.tenantId,
    nodeId,
    kind: 'fingerprint_changed' as const,
    evidence: { fingerprint, seenFrom: from },
  }
  for (const changeEvent of await raiseAlerts(tx, [alert])) ctx.notify(changeEvent)
  return reject('approval_pending', 'The hardware differs from the registered hardware. An operator must approve it.')
}

/** Stores another key for a node that has one, until an operator approves it. */
async function waitForApproval(tx: Tx, ctx: Ctx, { request, from }: Caller, agent: Agent, key?: AgentKey): Promise<Registration> {
  const pending = reject(
    'approval_pending',
    `${agent.agentId} is registered with another key. An operator must approve this one.`,
  )
  if (key) return pending
  const waiting = await tx
    .select({ seenFrom: agentKeys.seenFrom })
    .from(agentKeys)
    .where(and(eq(agentKeys.nodeId, agent.nodeId), eq(agentKeys.status, 'WAITING')))
  const isFull = waiting.filter(({ seenFrom }) => seenFrom === from).length >= MAX_WAITING_PER_ADDRESS
  if (isFull || waiting.length >= MAX_WAITING)
    return reject('key_not_allowed', `Too many keys of ${agent.agentId} already wait for approval. Approve or revoke one.`)
  const waits = { tenantId: ctx.tenantId, nodeId: agent.nodeId, publicKey: request.agent_pubkey, status: 'WAITING' as const }
  await tx.insert(agentKeys).values({ ...waits, seenFrom: from, ...createdBy(ctx) })
  await audit(tx, ctx, agentAudit.offerKey, { id: agent.nodeId, name: agent.agentId }, { publicKey: request.agent_pubkey, from })
  const evidence = { publicKey: request.agent_pubkey, seenFrom: from }
  for (const changeEvent of await raiseAlerts(tx, [
    { tenantId: ctx.tenantId, nodeId: agent.nodeId, kind: 'key_changed', evidence },
  ]))
    ctx.notify(changeEvent)
  ctx.notify(nodeChanged({ id: agent.nodeId, tenantId: ctx.tenantId }))
  return pending
}
