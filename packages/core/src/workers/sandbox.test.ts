import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { retryJobRun, runJob } from '../runs/index.ts'
import { jobRuns } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import { type TestRuntime, testRuntime } from '../testing/index.ts'
import { workers } from './tables.ts'

let suite: TestRuntime
let tenant: Awaited<ReturnType<TestRuntime['given']['tenant']>>
let limit: string
let nodeIds: string[]
beforeAll(async () => {
  suite = await testRuntime()
  tenant = await suite.given.tenant()
  const { id: credentialId } = await suite.given.credential(tenant.admin, 'SSH_KEY')
  const [node] = await suite.given.fleet(tenant.admin, { nodes: 1, with: { credentialId } })
  limit = node!.name
  nodeIds = [node!.id]
  const of = { tenantId: tenant.tenant.id, category: 'custom' as const, playbookPath: 'a.yml', isReadOnly: true }
  await suite.runtime.db.insert(jobTemplates).values([
    { ...of, name: 'by_git', displayName: 'by_git', source: 'git', gitUrl: 'https://git.test/a', gitRef: 'main' },
    { ...of, name: 'by_bundle', displayName: 'by_bundle', source: 'bundle' },
    { ...of, name: 'built_in', displayName: 'built_in', source: 'shipped' },
  ])
})
beforeEach(() => suite.runtime.db.delete(workers))
afterAll(() => suite.close())

const worker = (isolation: 'bubblewrap' | 'uid' | 'none' | 'unavailable', lastSeenAt = new Date()) =>
  suite.runtime.db.insert(workers).values({
    name: `worker-${Math.random()}`,
    host: 'here',
    pid: 1,
    version: '0',
    ansibleVersion: '2.19.4',
    isolation,
    isolationWeakness: isolation === 'unavailable' ? 'there is no bwrap' : null,
    concurrency: 1,
    lastSeenAt,
  })
const start = (template: string) => runJob(tenant.operator, { template, limit })

test('without a sandbox on any active worker, only shipped playbooks start', async () => {
  const earlier = await start('by_git')
  await suite.runtime.db.update(jobRuns).set({ finishedAt: sql`now()`, startedAt: sql`now()`, endCause: 'error' })
  await worker('unavailable')
  await worker('bubblewrap', new Date(Date.now() - 60_000))
  for (const template of ['by_git', 'by_bundle'])
    await expect(start(template)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/needs a sandbox.*there is no bwrap.*Install bubblewrap/),
    })
  await expect(retryJobRun(tenant.operator, { id: earlier.id, nodeIds })).rejects.toThrow(/needs a sandbox/)
  expect(await start('built_in')).toMatchObject({ source: 'shipped' })
})

test.each(['bubblewrap', 'uid', 'none'] as const)('one worker with the isolation %s suffices', async (isolation) => {
  await worker('unavailable')
  await worker(isolation)
  expect(await start('by_git')).toMatchObject({ source: 'git' })
})

test('without an active worker, the run waits', async () => {
  expect(await start('by_bundle')).toMatchObject({ source: 'bundle' })
})
