import { setTimeout } from 'node:timers/promises'
import { createCredential } from '@muster/core/credentials'
import { rollbackSlurmConfig } from '@muster/core/slurm-configs'
import type { FaultName } from '@muster/lab'
import { canRunSlurm } from '@muster/lab'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type ConfiguredCluster, createConfiguredCluster } from '../testing/configured-cluster.ts'

/** Lines are written five times a second; a busy machine delays some of them. */
const MAX_GAP_SECONDS = 3
const STORM = 100
const LONG = { timeout: 120_000 }
/** The rest of what can happen to a controller's host. Each ends with a failed refresh, and the job does not notice. */
const FAULTS: FaultName[] = [
  'controller-stop',
  'controller-freeze',
  'broken-slurm-conf',
  'wrong-munge-key',
  'clock-skew',
  'sshd-stop',
  'full-disk',
]

describe.runIf(canRunSlurm())('a job that writes five lines a second', () => {
  let c: ConfiguredCluster
  beforeAll(async () => {
    c = await createConfiguredCluster({ backup: true })
    const { username, privateKey } = c.lab.credentials.rootKey!
    const root = await createCredential(c.fixture.admin, { name: 'root', kind: 'SSH_KEY', username, privateKey })
    for (const { name } of c.lab.slurm!.controllers) await c.fixture.logInWith(name, root.id)
  }, 180_000)
  afterAll(() => c?.close())

  const linesOf = async () => (await c.lab.node('cpu-01').exec(['cat', '/tmp/lines'])).stdout.trim().split('\n').map(Number)
  async function expectNoGap(): Promise<void> {
    const times = await linesOf()
    await vi.waitFor(async () => expect((await linesOf()).length).toBeGreaterThan(times.length + 1), LONG)
    const all = await linesOf()
    expect(Math.max(...all.slice(1).map((time, i) => time - all[i]!))).toBeLessThanOrEqual(MAX_GAP_SECONDS)
  }

  it('survives a storm of refreshes', LONG, async () => {
    for (let i = 0; i < STORM; i++) expect(await c.fixture.refresh(c.cluster)).toMatchObject({ state: 'OK' })
    await expectNoGap()
  })

  it('survives a change of the configuration and its rollback', { timeout: 300_000 }, async () => {
    const number = await c.edit((text) => text.replace('KillWait=2', 'KillWait=5'))
    expect(await c.rollOut(number)).toMatchObject({ status: 'SUCCEEDED', error: null })
    await c.fixture.refresh(c.cluster)
    const rollback = await rollbackSlurmConfig(c.fixture.admin, { clusterId: c.cluster.id, number: 1, reason: 'test' })
    expect(await c.fixture.operate(rollback)).toMatchObject({ status: 'SUCCEEDED', error: null })
    await expectNoGap()
  })

  it('survives the failover to the backup controller, and the return', { timeout: 300_000 }, async () => {
    await c.lab.fault(c.controller, 'controller-stop')
    await vi.waitFor(async () => {
      const { state, controllers } = await c.fixture.refresh(c.cluster)
      expect({ state, up: controllers.filter(({ isUp }) => isUp).map(({ role }) => role) }).toEqual({
        state: 'OK',
        up: ['backup'],
      })
    }, LONG)
    await c.fixture.act(c.cluster, { verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-02' } })
    await c.lab.heal(c.controller)
    await vi.waitFor(async () => {
      const { state, controllers } = await c.fixture.refresh(c.cluster)
      expect({ state, up: controllers.every(({ isUp }) => isUp) }).toEqual({ state: 'OK', up: true })
    }, LONG)
    await c.fixture.act(c.cluster, { verb: 'RESUME_NODES', nodes: { hostlist: 'cpu-02' } })
    await expectNoGap()
  })

  it.each(FAULTS)('survives the fault %s of the controller', { timeout: 300_000 }, async (fault) => {
    await c.lab.fault(c.controller, fault)
    const { nodes: before } = await c.fixture.stored(c.cluster)
    for (let i = 0; i < 3; i++) {
      await c.fixture.refresh(c.cluster)
      // Whatever the controller says, no node and no job is invented or lost.
      const { nodes, jobs } = await c.fixture.stored(c.cluster)
      expect(nodes.map(({ name }) => name)).toEqual(before.map(({ name }) => name))
      expect(jobs.map(({ state }) => state)).toContain('RUNNING')
      await setTimeout(500)
    }
    await c.lab.heal(c.controller)
    await vi.waitFor(async () => expect(await c.fixture.refresh(c.cluster)).toMatchObject({ state: 'OK' }), LONG)
    expect(await c.jobState()).toBe('RUNNING')
    await expectNoGap()
  })
})
