import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { type AgentLine, bodyOf, openLine } from './agent-line.ts'
import { agentName } from './bench-agents.ts'

const LINES = 25
/** Greater than the epoch of all other heartbeats of these agents. */
const EPOCH = 2

/**
 * Sends each heartbeat to two API processes at the same time, at least `races` heartbeats, so that their statements overlap. One locked
 * row blocks both processes until all other heartbeats are queued in both. A second locked row then blocks both statements, so each
 * starts before the other one ends.
 * @param agents number of seeded agents
 * @returns how often each pair of responses occurred, sorted within the pair
 */
export async function collide(
  databaseUrl: string,
  servers: { url: string; metricsUrl: string }[],
  agents: number,
  races: number,
): Promise<Record<string, number>> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  const lines = await Promise.all(servers.map(({ url }) => Promise.all(Array.from({ length: LINES }, () => openLine(url)))))
  try {
    const raced = await inLockOrder(db, agents)
    const blocker = raced.pop()!
    const answers: Record<string, number> = {}
    for (let sequence = 1; (sequence - 1) * raced.length < races; sequence++) {
      const sendBoth = (i: number) => send(lines, i, sequence)
      const [free, open] = [await lockRow(databaseUrl, blocker), await lockRow(databaseUrl, raced[0]!)]
      const first = sendBoth(blocker)
      await waitUntil(() => areBothBlocked(db))
      const pairs = raced.map(sendBoth)
      await waitUntil(async () => (await Promise.all(servers.map(queuedAt))).every((count) => count === raced.length + 1))
      await free()
      await first
      await waitUntil(() => areBothBlocked(db))
      await open()
      for (const pair of await Promise.all(pairs)) {
        const answer = pair.sort().join()
        answers[answer] = (answers[answer] ?? 0) + 1
      }
    }
    return answers
  } finally {
    for (const line of lines.flat()) line.close()
    await db.end()
  }
}

function send(lines: AgentLine[][], i: number, sequence: number): Promise<string[]> {
  const body = bodyOf(i, sequence, new Date(), EPOCH)
  return Promise.all(lines.map((some) => some[i % LINES]!.send(body)))
}

/** Numbers of the agents in the order in which a statement locks their rows. */
async function inLockOrder(db: pg.Client, agents: number): Promise<number[]> {
  const { rows } = await db.query<{ name: string }>('select agent_id as name from agents order by node_id')
  const places = new Map(Array.from({ length: agents }, (_, i) => [agentName(i), i]))
  return rows.flatMap(({ name }) => places.get(name) ?? [])
}

/** Locks the row of an agent. @returns a function that releases the lock */
async function lockRow(databaseUrl: string, i: number): Promise<() => Promise<void>> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  await db.query('begin')
  await db.query('select from agent_heartbeats join agents using (node_id) where agent_id = $1 for update of agent_heartbeats', [
    agentName(i),
  ])
  return () => db.end()
}

async function areBothBlocked(db: pg.Client): Promise<boolean> {
  const { rowCount } = await db.query(`select from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock' and application_name <> 'muster-worker' and query like '%agent_heartbeats%'`)
  return rowCount === 2
}

async function queuedAt({ metricsUrl }: { metricsUrl: string }): Promise<number> {
  const page = await (await fetch(metricsUrl)).text()
  return Number(/^muster_heartbeats_queued (\d+)$/m.exec(page)?.[1])
}

async function waitUntil(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await setTimeout(5)
}
