import { eq } from 'drizzle-orm'
import { acceptHeartbeats, agents, judgeAgents } from '../agents/index.ts'
import type { Ctx } from '../context.ts'
import { beatOf, plantAgents } from './plant-agents.ts'

const INTERVAL_S = 30
const STEPS = 12

/**
 * One agent for each pattern of lost heartbeats among the first `bits` of twelve; what is after these is lost in every other agent.
 * Their states are looked at one second before, at and one second after each of the twelve moments, and held against their silence.
 */
export async function judgeLossPatterns(ctx: Ctx, bits: number): Promise<{ judged: number; wrong: string[] }> {
  const count = 2 ** bits
  const start = Date.now()
  const at = (seconds: number) => new Date(start + seconds * 1000)
  const planted = await plantAgents(ctx, count)
  const place = new Map(planted.map(({ nodeId }, i) => [nodeId, i]))
  const heard = new Array<number>(count).fill(0)
  const beats = (seconds: number, comes: (i: number) => boolean) => {
    const sent = planted.filter((_, i) => comes(i))
    for (const { nodeId } of sent) heard[place.get(nodeId)!] = seconds
    return acceptHeartbeats(
      ctx,
      sent.map((agent) => beatOf(agent, seconds + 1, at(seconds))),
      at(seconds),
    )
  }
  let judged = 0
  const wrong: string[] = []
  const look = async (seconds: number) => {
    await judgeAgents(ctx, at(seconds))
    for (const { nodeId, state } of await ctx.db.select().from(agents).where(eq(agents.tenantId, ctx.tenantId))) {
      const i = place.get(nodeId)!
      const silence = seconds - heard[i]!
      const expected = silence > 300 ? 'OFFLINE' : silence > 120 ? 'STALE' : 'ACTIVE'
      if (state !== expected) wrong.push(`pattern ${i.toString(2)} at ${seconds} s, silent for ${silence} s: ${state}`)
      judged++
    }
  }
  await beats(0, () => true)
  for (let step = 1; step <= STEPS; step++) {
    const moment = step * INTERVAL_S
    await look(moment - 1)
    await look(moment)
    await beats(moment, (i) => ((i >> ((step - 1) % bits)) & 1) === 0 && (step <= bits || i % 2 === 0))
    await look(moment + 1)
  }
  return { judged, wrong }
}
