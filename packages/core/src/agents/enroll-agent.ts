import type { RegisterRequest as Request } from '@muster/protocol'
import { and, eq, sql } from 'drizzle-orm'
import { audit, changeOf } from '../audit/index.ts'
import { agentHeartbeats, agentReports } from '../heartbeats/tables.ts'
import { NodeName } from '../kernel/address.ts'
import { actorColumns, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/index.ts'
import { agentAudit } from './audit-actions.ts'
import { hashEnrollmentToken } from './create-enrollment-token.ts'
import { type Agent, type AgentKey, agentEnrollmentTokens, agentKeys, agents, agentTransitions } from './tables.ts'

export type Registration =
  | { isAccepted: true; nodeId: string }
  | {
      isAccepted: false
      code: 'key_not_allowed' | 'token_invalid' | 'proof_invalid' | 'approval_pending' | 'cluster_mismatch'
      message: string
    }

export const reject = (code: Exclude<Registration, { isAccepted: true }>['code'], message: string) =>
  ({ isAccepted: false, code, message }) as const

/** A registration request and its origin. */
export type Caller = {
  request: Request
  isProven: boolean
  from: string | null
}

/** Enrolls a new agent for a known node, or adds the node. */
export async function enroll(tx: Tx, ctx: Ctx, caller: Caller, known: string | null, key?: AgentKey): Promise<Registration> {
  const { request, isProven, from } = caller
  const node = known ? { id: known } : await findOrAddNode(tx, ctx, caller)
  if ('code' in node) return node
  const nodeId = node.id
  const [before] = await tx.select().from(agents).where(eq(agents.nodeId, nodeId)).for('update')
  if (before && before.state !== 'DEREGISTERED')
    return reject('key_not_allowed', `The node already has the agent ${before.agentId}.`)
  if (!isProven && key && !(await isExpected(tx, request.node_id, key, before)))
    return reject(
      'key_not_allowed',
      `This key is allowed for an agent with another name. Allow it for ${request.node_id}, or sign the registration.`,
    )
  // A deregistered agent is replaced; the state history keeps both.
  if (before) await tx.delete(agents).where(eq(agents.nodeId, nodeId))
  const keyId = await allow(tx, ctx, caller, nodeId, key)
  const [agent] = await tx
    .insert(agents)
    .values({
      nodeId,
      tenantId: ctx.tenantId,
      agentId: request.node_id,
      cluster: request.cluster_id,
      keyId,
      fingerprint: isProven ? (request.hardware_fingerprint ?? null) : null,
      version: request.agent_version ?? null,
      seenFrom: from,
    })
    .returning()
  await tx.insert(agentHeartbeats).values({ nodeId })
  await tx.delete(agentReports).where(eq(agentReports.nodeId, nodeId))
  if (request.enrollment_token)
    await tx
      .update(agentEnrollmentTokens)
      .set({ usedByNodeId: nodeId })
      .where(eq(agentEnrollmentTokens.hash, hashEnrollmentToken(request.enrollment_token)))
  await updateLocation(tx, request, nodeId)
  await recordTransition(tx, ctx, nodeId, null, 'registered', from)
  await audit(
    tx,
    ctx,
    agentAudit.register,
    { id: nodeId, name: request.node_id },
    {
      publicKey: request.agent_pubkey,
      from,
      ...(request.provider_address ? { providerAddress: request.provider_address } : {}),
    },
    { change: changeOf(agents, before ?? null, agent!) },
  )
  ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
  return { isAccepted: true, nodeId }
}

/**
 * Whether an unsigned registration uses an expected id: the id given with the key, the node's name, or the id of its last agent.
 * Public keys are not secret, so the key alone proves nothing.
 */
async function isExpected(tx: Tx, agentId: string, key: AgentKey, before?: Agent): Promise<boolean> {
  if (key.agentId || !key.nodeId) return (key.agentId ?? agentId) === agentId
  const [node] = await tx.select({ name: computeNodes.name }).from(computeNodes).where(eq(computeNodes.id, key.nodeId))
  return agentId === node?.name || agentId === before?.agentId
}

async function allow(tx: Tx, ctx: Ctx, { request, from }: Caller, nodeId: string, key?: AgentKey): Promise<string> {
  const allowed = {
    status: 'ALLOWED' as const,
    nodeId,
    seenFrom: from,
    ...(key?.approvedAt ? {} : { approvedAt: sql`now()`, ...actorColumns(ctx, 'approved') }),
  }
  const [row] = key
    ? await tx.update(agentKeys).set(allowed).where(eq(agentKeys.id, key.id)).returning()
    : await tx
        .insert(agentKeys)
        .values({ ...allowed, tenantId: ctx.tenantId, publicKey: request.agent_pubkey, ...createdBy(ctx) })
        .returning()
  return row!.id
}

/** Finds the node by name, or adds it. */
async function findOrAddNode(tx: Tx, ctx: Ctx, { request, from }: Caller) {
  const [node] = await tx
    .select({ id: computeNodes.id, decommissionedAt: computeNodes.decommissionedAt })
    .from(computeNodes)
    .where(and(eq(computeNodes.tenantId, ctx.tenantId), eq(computeNodes.name, request.node_id)))
  if (node?.decommissionedAt)
    return reject('key_not_allowed', `The node ${request.node_id} is decommissioned. Recommission it first.`)
  if (node) return node
  const name = NodeName.safeParse(request.node_id)
  if (!name.success)
    return reject(
      'key_not_allowed',
      `${request.node_id} is not a valid node name: it ${name.error.issues[0]!.message}. Add the node first, and use a token for it.`,
    )
  const [added] = await tx
    .insert(computeNodes)
    .values({ tenantId: ctx.tenantId, name: name.data, host: from ?? name.data })
    .returning()
  await audit(tx, ctx, nodeAudit.add, added!, { host: added!.host }, { change: changeOf(computeNodes, null, added!) })
  return added!
}

/** Updates region and datacenter from the agent's report; keeps omitted values. */
export async function updateLocation(tx: Tx, { region, datacenter }: Request, nodeId: string): Promise<void> {
  const reported = { ...(region ? { region } : {}), ...(datacenter ? { datacenter } : {}) }
  if (Object.keys(reported).length > 0) await tx.update(computeNodes).set(reported).where(eq(computeNodes.id, nodeId))
}

/** Adds an entry to the node's state history. */
export async function recordTransition(
  tx: Tx,
  ctx: Ctx,
  nodeId: string,
  before: 'OFFLINE' | null,
  reason: string,
  from: string | null,
): Promise<void> {
  const evidence = from ? { seenFrom: from } : {}
  await tx
    .insert(agentTransitions)
    .values({ tenantId: ctx.tenantId, nodeId, from: before, to: 'PENDING', reason, evidence, at: sql`now()` })
}
