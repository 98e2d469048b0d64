import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Ctx, Tx } from '../kernel/context.ts'
import { changedConcurrently, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, type DomainError, NotFound } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { type Agent, agents } from './tables.ts'

/** The input of verbs that need only the agent's node. */
export const ByNode = z.object({ nodeId: Id })

/** The condition of every write to one agent. */
export const agentOf = (ctx: Pick<Ctx, 'tenantId'>, nodeId: string) => and(visibleTo(ctx, agents), eq(agents.nodeId, nodeId))

/** Like `notFoundOrConflict`, for agents, which are identified by their node. */
export async function agentNotFoundOrConflict(
  tx: Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  nodeId: string,
  why: (agent: Agent) => string | null,
): Promise<DomainError> {
  const [agent] = await tx.select().from(agents).where(agentOf(ctx, nodeId))
  if (!agent) return new NotFound(`The node ${nodeId} has no agent; create an enrollment token and register one.`)
  return new Conflict(why(agent) ?? changedConcurrently('agent', agent.agentId))
}
