import { computeNodes } from '@muster/core/nodes'
import { type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq, inArray, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { removeSlurm } from './install.ts'
import { type OperationContext, RunRefused } from './operation.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

it('removes Slurm in one run from all nodes that a run may use', async () => {
  const fixture = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(fixture.admin, 'SSH_KEY')
  const nodes = await t.given.fleet(fixture.admin, { nodes: 5, with: { credentialId } })
  const ids = nodes.map(({ id }) => id)
  const [busy, decommissioned, deleted, ...others] = ids as [string, string, string, ...string[]]
  const { db } = t.runtime
  await db.update(computeNodes).set({ readyAt: sql`now()` }).where(inArray(computeNodes.id, ids))
  await db.update(computeNodes).set({ maintenanceAt: sql`now()` }).where(eq(computeNodes.id, busy))
  await db.update(computeNodes).set({ decommissionedAt: sql`now()` }).where(eq(computeNodes.id, decommissioned))
  await db.delete(computeNodes).where(eq(computeNodes.id, deleted))
  const started: string[][] = []
  const op = {
    ctx: fixture.worker,
    cluster: { install: null },
    async startRun(_template: string, nodeIds: string[]) {
      if (nodeIds.some((id) => !others.includes(id))) throw new RunRefused('The job run cannot start.')
      started.push(nodeIds)
      return { run: { number: 1 }, hosts: new Map(nodeIds.map((id) => [id, { result: 'OK' }])) }
    },
  } as unknown as OperationContext
  const failed = await removeSlurm(op, ids, 'compute')
  expect(started).toEqual([others.toSorted()])
  expect(Object.fromEntries(failed)).toEqual({
    [busy]: expect.stringContaining('in maintenance'),
    [decommissioned]: 'the node is decommissioned',
    [deleted]: 'the node was deleted',
  })
})
