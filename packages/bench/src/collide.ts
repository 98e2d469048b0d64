import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { type AgentLine, bodyOf, openLine } from './agent-line.ts'
import { agentName } from './bench-agents.ts'

const LINES = 25
/** Later than whatever else was sent for these agents. */
const EPOCH = 2

/**
 * Send heartbeats to two API processes so that they collide, `races` of them at least. Left to chance they seldom would: so both are
 * kept busy with one heartbeat until all the others wait in both of them, and then the first row of these is kept until both want it,
 * each with a statement that began before the other's was over.
 * @param agents how many were seeded
 * @returns how often which two answers were given, the lesser first
 */
export async function collide(
  databaseUrl: string,
  urls: string[],
  agents: number,
  races: number,
): Promise<Record<string, number>> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  const lines = await Promise.all(urls.map((url) => Promise.all(Array.from({ length: LINES }, () => openLine(url)))))
  try {
    const raced = await inOrder(db, agents)
    const plug = raced.pop()!
    const answers: Record<string, number> = {}
    for (let sequence = 1; (sequence - 1) * raced.length < races; sequence++) {
      const sendBoth = (i: number) => send(lines, i, sequence)
      const [free, open] = [await hold(databaseUrl, plug), await hold(databaseUrl, raced[0]!)]
      const first = sendBoth(plug)
      await until(() => bothWait(db))
      const pairs = raced.map(sendBoth)
      await until(async () => (await Promise.all(urls.map(queuedAt))).every((count) => count === raced.length + 1))
      await free()
      await first
      await until(() => bothWait(db))
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

/** Agents in the order in which a statement meets their rows. */
async function inOrder(db: pg.Client, agents: number): Promise<number[]> {
  const { rows } = await db.query<{ name: string }>('select agent_id as name from agents order by node_id')
  const places = new Map(Array.from({ length: agents }, (_, i) => [agentName(i), i]))
  return rows.flatMap(({ name }) => places.get(name) ?? [])
}

/** Keep the row of an agent from everybody else. @returns what lets it go */
async function hold(databaseUrl: string, i: number): Promise<() => Promise<void>> {
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  await db.query('begin')
  await db.query('select from agent_heartbeats join agents using (node_id) where agent_id = $1 for update of agent_heartbeats', [
    agentName(i),
  ])
  return () => db.end()
}

async function bothWait(db: pg.Client): Promise<boolean> {
  const { rowCount } = await db.query(`select from pg_stat_activity where datname = current_database()
    and wait_event_type = 'Lock' and application_name <> 'muster-worker' and query like '%agent_heartbeats%'`)
  return rowCount === 2
}

async function queuedAt(url: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text()
  return Number(/^muster_heartbeats_queued (\d+)$/m.exec(page)?.[1])
}

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await setTimeout(5)
}
