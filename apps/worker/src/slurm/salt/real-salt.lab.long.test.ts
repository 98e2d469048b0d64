import { createCredential } from '@muster/core/credentials'
import { computeNodes } from '@muster/core/nodes'
import { slurmOperationNodes } from '@muster/core/slurm-operations'
import { checkSlurmReadiness, createSlurmCluster, slurmReadinessChecks } from '@muster/core/slurm-scaling'
import { LOOPBACK } from '@muster/core/testing'
import { canRunSlurm } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSalt, type TestSalt } from '../../testing/salt.ts'
import { createSlurmFixture } from '../../testing/slurm-fixture.ts'
import { checkMinions } from './check-minions.ts'
import { createSaltClient } from './salt-client.ts'

describe.skipIf(!process.env.SALT)('a real Salt master', () => {
  let salt: TestSalt
  beforeAll(async () => {
    salt = await startSalt()
    await Promise.all(['ctl-1', 'cpu-1.example.org', 'cpu-2'].map((id) => salt.startMinion(id)))
    await Promise.all(['ctl-1', 'cpu-1.example.org'].map((id) => salt.accept(id)))
  }, 300_000)
  afterAll(() => salt.stop())

  const client = (change: { username?: string; password?: string } = {}) =>
    createSaltClient(
      {
        login: { host: '127.0.0.1', port: salt.port, username: 'muster', password: salt.sharedSecret, ...change },
        eauth: 'sharedsecret',
        caCertificate: salt.caCertificate,
      },
      { localTargets: LOOPBACK, signal: new AbortController().signal },
    )
  const findings = async (name: string) =>
    (await checkMinions(client(), [name], null)).get(name)!.map((check) => `${check.name} ${check.state}: ${check.message}`)

  // Only a lab in network namespaces has nodes that are checked over SSH.
  it.runIf(canRunSlurm())(
    'keeps nodes without an accepted minion out of a cluster',
    async () => {
      const names = ['ctl-1', 'cpu-2', 'cpu-3']
      const lab = await createLab({ nodes: names.map((name) => ({ name, profile: 'cpu' })), bastion: false, mode: 'namespaces' })
      const fixture = await createSlurmFixture(lab)
      const { db } = fixture.runtime
      try {
        await db
          .update(computeNodes)
          .set({ readyAt: sql`now()`, cpuSockets: 1, cpuCores: 2, cpuThreads: 2, memoryBytes: 4 * 1024 ** 3 })
        const login = { host: '127.0.0.1', port: salt.port, username: 'muster', password: salt.sharedSecret }
        const { id: saltCredentialId } = await createCredential(fixture.admin, { name: 'salt', kind: 'SALT', ...login })
        const settings = { saltCredentialId, saltEauth: 'sharedsecret', saltCaCertificate: salt.caCertificate }
        const nodeIds = names.map((name) => fixture.nodeId(name))
        const { id } = await checkSlurmReadiness(fixture.admin, { nodeIds, ...settings })
        await fixture.checkReadiness({ id })
        const [check] = await db.select().from(slurmReadinessChecks).where(eq(slurmReadinessChecks.id, id))
        expect(check).toMatchObject({ error: null })
        const states = check!.nodes.map(({ name, checks }) => [name, checks!.find(({ name }) => name === 'salt-key')!.state])
        expect(Object.fromEntries(states)).toEqual({ 'ctl-1': 'OK', 'cpu-2': 'FAILED', 'cpu-3': 'FAILED' })
        const started = await createSlurmCluster(fixture.admin, {
          name: 'prod',
          controllerNodeId: fixture.nodeId('ctl-1'),
          computeNodeIds: [fixture.nodeId('cpu-2'), fixture.nodeId('cpu-3')],
          ...settings,
          reason: 'test',
        })
        const operation = await fixture.operate(started)
        expect(operation).toMatchObject({ status: 'FAILED' })
        expect(operation.error).toContain('No node is left. cpu-2: salt-key: the key of cpu-2 is not accepted')
        const nodes = await db.select().from(slurmOperationNodes).where(eq(slurmOperationNodes.operationId, operation.id))
        const failed = nodes.map(({ name, checks }) => [
          name,
          checks.flatMap(({ name, state }) => (state === 'FAILED' ? name : [])),
        ])
        expect(Object.fromEntries(failed)).toEqual({ 'cpu-2': ['salt-key'], 'cpu-3': ['salt-key'] })
        expect(JSON.stringify([check, operation, nodes])).not.toContain(salt.sharedSecret)
      } finally {
        await fixture.close()
      }
    },
    300_000,
  )

  it('reports the key, the connection, the version and the package of each minion', async () => {
    expect(await findings('cpu-1')).toEqual([
      'salt-key OK: cpu-1.example.org is accepted',
      expect.stringMatching(/^salt-minion OK: cpu-1\.example\.org is connected, version 3008\.5$/),
      expect.stringMatching(/^slurm-package OK: /),
    ])
    expect(await findings('cpu-2')).toEqual([
      'salt-key FAILED: the key of cpu-2 is not accepted; accept it with `salt-key -a cpu-2`',
    ])
    expect(await findings('cpu-3')).toEqual([expect.stringMatching(/^salt-key FAILED: the master knows no minion cpu-3/)])
    await salt.stopMinion('cpu-1.example.org')
    expect(await findings('cpu-1')).toEqual([
      'salt-key OK: cpu-1.example.org is accepted',
      'salt-minion FAILED: cpu-1.example.org does not return; start salt-minion, and check its connection',
    ])
  }, 120_000)

  it('names a rejected login and a missing permission', async () => {
    await expect(client({ password: 'wrong' }).listKeys()).rejects.toThrow(/rejects the login of muster; check the password/)
    const limited = client({ username: 'limited' })
    await expect(limited.listKeys()).rejects.toThrow(/does not allow limited to use @wheel: key\.list_all/)
    await expect(limited.call(['ctl-1'], [{ name: 'pkg.version', args: ['tar'] }])).rejects.toThrow(
      /does not allow limited to use pkg\.version/,
    )
    expect(await limited.call(['ctl-1'], [{ name: 'test.ping' }])).toEqual(new Map([['ctl-1', { 'test.ping': true }]]))
  })
})
