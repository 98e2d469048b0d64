import { type CachedAgent, findAgents } from '@muster/core/agents'
import { batch } from '@muster/core/batch'
import type { Runtime } from '@muster/core/registry'
import { type PublicKey, publicKey } from '@muster/protocol'

/** An agent with keys that were looked at once and verify many times. */
export type Known = CachedAgent & { signers: { id: string; key: PublicKey }[] }
type Entry = { agents: Known[]; readAt: number }

/** Names that are remembered; a name takes some 2 kB. */
const MOST = 150_000
/** Nothing is callerCache for longer, nor looked at again sooner. */
const OLD_MS = 10 * 60_000
const YOUNG_MS = 1000

export type KnownAgents = ReturnType<typeof rememberAgents>

/**
 * Agents by their name, from memory where possible. It may be behind: what it says is checked again in the statement that stores, and
 * who is refused on its word is looked up anew before.
 */
export function rememberAgents(runtime: Runtime) {
  const entries = new Map<string, Entry>()
  const read = batch(async (names: string[]) => {
    const found = Map.groupBy(await findAgents(runtime, [...new Set(names)]), (agent) => agent.agentId)
    return names.map((name) => (found.get(name) ?? []).map(withSigners))
  }, 500)

  async function readNow(name: string): Promise<Known[]> {
    const agents = await read(name)
    entries.delete(name)
    // Who is not known is not remembered either: names can be made up without end.
    if (agents.length > 0) entries.set(name, { agents, readAt: Date.now() })
    if (entries.size > MOST) entries.delete(entries.keys().next().value!)
    return agents
  }
  return {
    async find(name: string): Promise<Known[]> {
      const entry = entries.get(name)
      return entry && Date.now() - entry.readAt < OLD_MS ? entry.agents : readNow(name)
    },
    /** What is known now, of a name about which memory was wrong; null when it was read a moment ago. */
    async findAgain(name: string): Promise<Known[] | null> {
      const entry = entries.get(name)
      return entry && Date.now() - entry.readAt >= YOUNG_MS ? readNow(name) : null
    },
    forget: (name: string) => void entries.delete(name),
  }
}

function withSigners(agent: CachedAgent): Known {
  return { ...agent, signers: agent.keys.map(({ id, publicKey: base64 }) => ({ id, key: publicKey(base64) })) }
}
