import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { runJob } from '../runs/index.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { testRuntime } from '../testing/runtime.ts'
import { FAULT_TIMEOUT, scaleIterations } from '../testing/scale-iterations.ts'

const RUNS = scaleIterations(100_000)
const SENDERS = 12
const LATER = 20

test(`${RUNS} runs, each requested three times with one key, are ${RUNS} runs`, { timeout: FAULT_TIMEOUT }, async () => {
  const { runtime, given, close } = await testRuntime()
  const { admin, operator } = await given.tenant()
  const { id: credentialId } = await given.credential(admin, 'SSH_KEY')
  await given.fleet(admin, { nodes: 1, with: { credentialId } })
  // The second request follows immediately, so that both race. The third follows when the first has its answer.
  const asked = Array.from({ length: RUNS + LATER }, (_, i) => [i, i, i - LATER].filter((n) => n >= 0 && n < RUNS)).flat()
  expect(asked).toHaveLength(3 * RUNS)
  const idsOf = new Map<number, Set<string>>()
  const send = async () => {
    for (let i = asked.shift(); i !== undefined; i = asked.shift()) {
      const { id } = await runJob(operator, { template: 'connectivity_check', limit: 'all', idempotencyKey: `key ${i}` })
      idsOf.set(i, (idsOf.get(i) ?? new Set<string>()).add(id))
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, send))

  expect(idsOf.size).toBe(RUNS)
  expect([...idsOf.values()].every((ids) => ids.size === 1)).toBe(true)
  const count = { count: sql<number>`count(*)::int` }
  expect(await runtime.db.select(count).from(jobRuns)).toEqual([{ count: RUNS }])
  expect(await runtime.db.select(count).from(jobRunHosts)).toEqual([{ count: RUNS }])
  const { rows } = await runtime.db.execute(sql`select count(*)::int from pgboss.job where name = 'job-run'`)
  expect(rows).toEqual([{ count: RUNS }])
  const started = await runtime.db.select(count).from(auditEntries).where(sql`${auditEntries.action} = 'job_run.start'`)
  expect(started).toEqual([{ count: RUNS }])
  await close()
})
