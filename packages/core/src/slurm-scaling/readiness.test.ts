import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemCtx } from '../kernel/context.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { type ScalingFixture, scalingFixture } from '../testing/scaling-fixture.ts'
import {
  checkSlurmReadiness,
  failStalledReadinessChecks,
  reassignReadinessChecks,
  recordSlurmReadiness,
  slurmReadinessChecks,
  startSlurmReadinessCheck,
} from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
let { ours, nodes, idsOf, created } = {} as ScalingFixture
beforeEach(async () => {
  ;({ ours, nodes, idsOf, created } = await scalingFixture(t))
})

describe('a check of nodes', () => {
  const check = (more: object = {}, ctx = ours.admin) => checkSlurmReadiness(ctx, { nodeIds: idsOf(3, 5), ...more })

  test('is of the nodes that can join, and is recorded by one worker', async () => {
    const clusterId = await created()
    const found = await check({ clusterId, nodeIds: idsOf(1, 4) })
    expect(found.nodes).toMatchObject(nodes.slice(2, 4).map(({ id, name }) => ({ nodeId: id, name, checks: null })))
    const claim = { id: found.id, token: 'first' }
    expect(await startSlurmReadinessCheck(ours.worker, claim)).toMatchObject({ cluster: { id: clusterId } })
    expect(await startSlurmReadinessCheck(ours.worker, { ...claim, token: 'second' })).toBeNull()
    const checks = [{ name: 'clock', state: 'OK' as const, message: 'equal' }]
    const checked = found.nodes.map((node) => ({ ...node, checks }))
    await recordSlurmReadiness(ours.worker, { ...claim, nodes: checked, error: null })
    await recordSlurmReadiness(ours.worker, { ...claim, nodes: [], error: 'late' })
    const rows = await t.runtime.db.select().from(slurmReadinessChecks).where(eq(slurmReadinessChecks.id, found.id))
    expect(rows).toMatchObject([{ nodes: checked, error: null, finishedAt: expect.any(Date) }])
  })

  test('needs an admin, nodes of the tenant, and one that can join', async () => {
    await expect(check({}, ours.operator)).rejects.toThrow(/slurm:scale:nodes/)
    await expect(check({}, (await t.given.tenant()).admin)).rejects.toThrow(/There is no/)
    await created()
    await expect(check({ nodeIds: idsOf(0, 1) })).rejects.toThrow(/none of the nodes can join/)
  })

  test('is continued by another worker after the first one is lost', async () => {
    const { id } = await check()
    const first = { id, token: 'first' }
    const second = { id, token: 'second' }
    await startSlurmReadinessCheck(ours.worker, first)
    expect(await reassignReadinessChecks(systemCtx(t.runtime))).toBe(0)
    await t.runtime.db
      .update(slurmReadinessChecks)
      .set({ claimedUntil: sql`now() - interval '1 s'` })
      .where(eq(slurmReadinessChecks.id, id))
    expect(await reassignReadinessChecks(systemCtx(t.runtime))).toBe(1)
    expect(await startSlurmReadinessCheck(ours.worker, second)).toMatchObject({ check: { id } })
    expect(await recordSlurmReadiness(ours.worker, first)).toBe(false)
    expect(await recordSlurmReadiness(ours.worker, { ...second, error: null })).toBe(true)
  })

  test('fails when its worker is lost', async () => {
    const { id } = await check()
    await startSlurmReadinessCheck(ours.worker, { id, token: 'lost' })
    expect(await failStalledReadinessChecks(systemCtx(t.runtime))).toBe(0)
    await t.runtime.db
      .update(slurmReadinessChecks)
      .set({ startedAt: sql`now() - interval '2 hours'` })
      .where(eq(slurmReadinessChecks.id, id))
    expect(await failStalledReadinessChecks(systemCtx(t.runtime))).toBe(1)
    const [row] = await t.runtime.db.select().from(slurmReadinessChecks).where(eq(slurmReadinessChecks.id, id))
    expect(row!.error).toMatch(/The worker was lost/)
  })
})
