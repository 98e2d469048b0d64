import { type CachedAgent, findAgents } from '@muster/core/agents'
import { batch } from '@muster/core/batch'
import type { Runtime } from '@muster/core/registry'
import { type PublicKey, publicKey } from '@muster/protocol'

/** An agent with parsed public keys, ready to verify many signatures. */
export type VerifiableAgent = CachedAgent & { signers: { id: string; key: PublicKey }[] }
type Entry = { agents: VerifiableAgent[]; readAt: number }

/** Maximum number of cached names, about 2 kB each. */
const MAX_ENTRIES = 150_000
/** Entries expire after MAX_AGE_MS. `refresh` does not reload entries younger than MIN_REFRESH_MS. */
const MAX_AGE_MS = 10 * 60_000
const MIN_REFRESH_MS = 1000

/**
 * Caches agents by name. Entries can be outdated: the statement that stores a heartbeat checks the key again, and callers `refresh` an
 * entry before they reject a heartbeat.
 */
export function createAgentCache(runtime: Runtime) {
  const entries = new Map<string, Entry>()
  const read = batch(async (names: string[]) => {
    const found = Map.groupBy(await findAgents(runtime, [...new Set(names)]), (agent) => agent.agentId)
    return names.map((name) => (found.get(name) ?? []).map(withSigners))
  }, 500)

  async function load(name: string): Promise<VerifiableAgent[]> {
    const agents = await read(name)
    entries.delete(name)
    // Unknown names are not cached: clients can send any number of them.
    if (agents.length > 0) entries.set(name, { agents, readAt: Date.now() })
    if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!)
    return agents
  }
  return {
    async find(name: string): Promise<VerifiableAgent[]> {
      const entry = entries.get(name)
      return entry && Date.now() - entry.readAt < MAX_AGE_MS ? entry.agents : load(name)
    },
    /** Reloads a cached name; null when it is not cached or was loaded less than a second ago. */
    async refresh(name: string): Promise<VerifiableAgent[] | null> {
      const entry = entries.get(name)
      return entry && Date.now() - entry.readAt >= MIN_REFRESH_MS ? load(name) : null
    },
    evict: (name: string) => void entries.delete(name),
  }
}

function withSigners(agent: CachedAgent): VerifiableAgent {
  return { ...agent, signers: agent.keys.map(({ id, publicKey: base64 }) => ({ id, key: publicKey(base64) })) }
}
