import { eq } from 'drizzle-orm'
import { agents, reconcileAgentStates } from '../agents/index.ts'
import { acceptHeartbeats } from '../heartbeats/index.ts'
import type { Ctx, Runtime, SystemCtx } from '../kernel/context.ts'
import { heartbeatOf, insertAgents } from './insert-agents.ts'

const INTERVAL_S = 30
const STEPS = 12

/**
 * Simulates one agent for each pattern of lost heartbeats among the first `bits` of twelve; every other agent also loses all later
 * ones. Compares each state with the agent's silence one second before, at and one second after each of the twelve heartbeats.
 */
export async function checkLossPatterns(
  system: SystemCtx & Pick<Runtime, 'db'>,
  ctx: Ctx & Pick<Runtime, 'db'>,
  bits: number,
): Promise<{ checked: number; wrong: string[] }> {
  const count = 2 ** bits
  const start = Date.now()
  const at = (seconds: number) => new Date(start + seconds * 1000)
  const inserted = await insertAgents(ctx, count)
  const indexOf = new Map(inserted.map(({ nodeId }, i) => [nodeId, i]))
  const lastHeard = new Array<number>(count).fill(0)
  const sendHeartbeats = (seconds: number, isSent: (i: number) => boolean) => {
    const sent = inserted.filter((_, i) => isSent(i))
    for (const { nodeId } of sent) lastHeard[indexOf.get(nodeId)!] = seconds
    return acceptHeartbeats(
      system,
      sent.map((agent) => heartbeatOf(agent, seconds + 1, at(seconds))),
      at(seconds),
    )
  }
  let checked = 0
  const wrong: string[] = []
  const checkStates = async (seconds: number) => {
    await reconcileAgentStates(system, at(seconds))
    for (const { nodeId, state } of await ctx.db.select().from(agents).where(eq(agents.tenantId, ctx.tenantId))) {
      const i = indexOf.get(nodeId)!
      const silence = seconds - lastHeard[i]!
      const expected = silence > 300 ? 'OFFLINE' : silence > 120 ? 'STALE' : 'ACTIVE'
      if (state !== expected) wrong.push(`pattern ${i.toString(2)} at ${seconds} s, silent for ${silence} s: ${state}`)
      checked++
    }
  }
  await sendHeartbeats(0, () => true)
  for (let step = 1; step <= STEPS; step++) {
    const dueAt = step * INTERVAL_S
    await checkStates(dueAt - 1)
    await checkStates(dueAt)
    await sendHeartbeats(dueAt, (i) => ((i >> ((step - 1) % bits)) & 1) === 0 && (step <= bits || i % 2 === 0))
    await checkStates(dueAt + 1)
  }
  return { checked, wrong }
}
