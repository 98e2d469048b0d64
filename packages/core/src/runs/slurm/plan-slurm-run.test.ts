import { expect, test } from 'vitest'
import { InvalidInput } from '../../kernel/errors.ts'
import { slurmRunFixture } from '../../testing/slurm-run-fixture.ts'
import { previewRun } from '../lifecycle/preview-run.ts'
import { runJob } from '../lifecycle/run-job.ts'

const { state, refresh, start } = slurmRunFixture()

test('refuses nodes without a cluster, a floor that protects all, and nodes of an unfinished run', async () => {
  await expect(start({}, { limit: 'ctl001' })).rejects.toThrow(InvalidInput)
  await expect(start({ floorPercent: 100 })).rejects.toThrow(/lets no node of the partition batch \(4 nodes\) be drained/)
  const first = await start({}, { limit: 'gpu001' })
  await expect(start()).rejects.toThrow(`gpu001: in the unfinished run ${first.number}`)
  const both = await Promise.allSettled([1, 2].map(() => start({}, { limit: 'gpu003' })))
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('needs the permissions to drain and resume', async () => {
  await expect(runJob(state().ours.viewer, { template: 'connectivity_check', limit: 'all', slurm: {} })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  const { actor } = state().ours.operator
  if (actor.kind !== 'user') throw new Error('not a user')
  for (const missing of ['slurm:node:drain', 'slurm:node:resume']) {
    const permissions = new Set([...actor.permissions].filter((name) => name !== missing))
    const limited = { ...state().ours.operator, actor: { ...actor, permissions } }
    const input = { template: 'connectivity_check', limit: 'gpu001', slurm: {} }
    await expect(runJob(limited, input)).rejects.toThrow(missing)
    await expect(previewRun(limited, input)).rejects.toThrow(missing)
  }
})

test('previews more batches than it chooses one by one', async () => {
  const names = Array.from({ length: 120 }, (_, at) => `many${String(at + 1).padStart(3, '0')}`)
  const { id: credentialId } = await state().t.given.credential(state().ours.admin, 'SSH_KEY')
  await state().t.given.fleet(state().ours.admin, { nodes: 120, prefix: 'many', with: { credentialId } })
  for (const name of names) state().slurm.set(name, { states: ['IDLE'], reason: null, jobs: [] })
  await refresh()
  const input = { template: 'connectivity_check', limit: 'many[001-120]', slurm: { batchSize: 1 } }
  const { batches } = (await previewRun(state().ours.operator, input)).slurm!
  expect(batches.flatMap(({ hosts }) => hosts)).toEqual(names)
  expect(batches).toHaveLength(120)
})

test('previews batches, waits by time limits, and what is in the way', async () => {
  state().slurm.get('gpu001')!.jobs = [{ id: 7, endAt: new Date(Date.now() + 600_000) }]
  Object.assign(state().slurm.get('gpu002')!, { states: ['IDLE', 'DRAIN'], reason: 'fan' })
  await refresh()
  const input = { template: 'connectivity_check', limit: 'gpu[001-003]', slurm: { batchSize: 2 } }
  const { slurm: plan } = await previewRun(state().ours.operator, input)
  expect(plan).toMatchObject({
    batches: [
      { hosts: ['gpu002', 'gpu003'], jobs: [], waitSeconds: 0 },
      { hosts: ['gpu001'], jobs: [{ jobId: '7' }], waitSeconds: expect.any(Number) },
    ],
    partitions: [{ name: 'batch', nodes: 4, inService: 3, floor: 2 }],
    outOfService: ['gpu002'],
    waitsFor: null,
  })
  expect(plan!.estimatedSeconds).toBeGreaterThan(590)
  expect(plan!.estimatedSeconds).toBeLessThanOrEqual(600)
  state().slurm.get('gpu001')!.jobs = [{ id: 7, endAt: null }]
  await refresh()
  expect((await previewRun(state().ours.operator, input)).slurm).toMatchObject({ estimatedSeconds: null })
})
