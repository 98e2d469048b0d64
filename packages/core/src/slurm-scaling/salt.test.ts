import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addSlurmCluster, slurmClusters, updateSlurmCluster } from '../clusters/index.ts'
import { deleteCredential } from '../credentials/index.ts'
import { claimSlurmOperation, recordSlurmSaltJob, type SlurmOperation } from '../slurm-operations/index.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { type ScalingFixture, scalingFixture } from '../testing/scaling-fixture.ts'
import { checkSlurmReadiness, releaseSlurmCluster } from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
let { ours, nodes, idsOf, create, end } = {} as ScalingFixture
beforeEach(async () => {
  ;({ ours, nodes, idsOf, create, end } = await scalingFixture(t))
})

describe('Salt', () => {
  const salt = async (ctx = ours.admin) => (await t.given.credential(ctx, 'SALT')).id
  const rowOf = async (operation: SlurmOperation) =>
    (await t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, operation.clusterId)))[0]!

  test('is set at the creation and by an update, and removed by one', async () => {
    const saltCredentialId = await salt()
    const operation = await create({ saltCredentialId })
    expect(await rowOf(operation)).toMatchObject({
      saltCredentialId,
      saltEauth: 'pam',
      saltCaCertificate: null,
      saltInstalls: false,
    })
    const id = operation.clusterId
    await updateSlurmCluster(ours.admin, { id, saltEauth: 'ldap' })
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId, saltEauth: 'ldap' })
    await updateSlurmCluster(ours.admin, { id, saltInstalls: true })
    await updateSlurmCluster(ours.admin, { id, region: 'eu' })
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId, saltEauth: 'ldap', saltInstalls: true })
    await expect(deleteCredential(ours.admin, { id: saltCredentialId })).rejects.toThrow(/is used by the clusters prod/)
    await updateSlurmCluster(ours.admin, { id, saltCredentialId: null })
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId: null, saltEauth: null, saltInstalls: false })
    await deleteCredential(ours.admin, { id: saltCredentialId })
  })

  test('needs a credential of the kind SALT in the same tenant', async () => {
    const { id: sshKey } = await t.given.credential(ours.admin, 'SSH_KEY')
    await expect(create({ saltCredentialId: sshKey })).rejects.toThrow(
      /saltCredentialId: must be .* kind SALT; this one has the kind SSH_KEY/,
    )
    const theirs = await t.given.tenant()
    await expect(create({ saltCredentialId: await salt(theirs.admin) })).rejects.toThrow(
      /saltCredentialId: There is no credential/,
    )
    await expect(create({ saltEauth: 'pam' })).rejects.toThrow(/saltEauth: requires a credential/)
    await expect(create({ saltInstalls: true })).rejects.toThrow(/saltInstalls: requires a credential/)
    expect(await rowOf(await create({ saltInstalls: false }))).toMatchObject({ saltInstalls: false })
    await expect(create({ saltCredentialId: await salt(), saltCaCertificate: 'x' })).rejects.toThrow(/certificates in PEM/)
  })

  test('of a new cluster is used by the check of its nodes', async () => {
    const saltCredentialId = await salt()
    const check = await checkSlurmReadiness(ours.admin, { nodeIds: idsOf(1, 3), saltCredentialId, saltEauth: 'ldap' })
    expect(check.salt).toEqual({ saltCredentialId, saltEauth: 'ldap', saltCaCertificate: null, saltInstalls: false })
    expect((await checkSlurmReadiness(ours.admin, { nodeIds: idsOf(1, 3) })).salt).toMatchObject({ saltCredentialId: null })
  })

  test('gets jobs that are recorded and audited before', async () => {
    const operation = await create({ saltCredentialId: await salt(), saltInstalls: true })
    const claim = { id: operation.id, token: 'token' }
    const job = {
      ...{ key: 'compute', jid: '20261123171219225227', startedAt: new Date().toISOString(), finishedAt: null, failed: {} },
      minions: [{ nodeId: nodes[1]!.id, minionId: 'gpu001' }],
    }
    const state = { name: 'slurm.node', pillar: { slurm_node: { role: 'compute' } } }
    expect(await recordSlurmSaltJob(ours.worker, { ...claim, job, state })).toBeNull()
    await claimSlurmOperation(ours.worker, claim)
    expect(await recordSlurmSaltJob(ours.worker, { ...claim, job, state })).toEqual([job])
    const ended = { ...job, finishedAt: new Date().toISOString(), failed: { [nodes[1]!.id]: 'no space' } }
    expect(await recordSlurmSaltJob(ours.worker, { ...claim, job: ended, state })).toEqual([ended])
    await expect(recordSlurmSaltJob(ours.admin, { ...claim, job, state })).rejects.toThrow(/Only a worker may do this/)
    const entries = await t.runtime.db.query.auditEntries.findMany({
      where: { tenantId: ours.tenant.id, action: 'slurm_operation.apply_state', outcome: 'succeeded' },
    })
    const details = { kind: 'CREATE', jid: job.jid, state: 'slurm.node', pillar: state.pillar, minions: ['gpu001'] }
    expect(entries.map((entry) => [entry.objectId, entry.details])).toEqual([[operation.id, details]])
  })

  test('ends with the management', async () => {
    const saltCredentialId = await salt()
    const operation = await create({ saltCredentialId })
    await end(operation)
    await releaseSlurmCluster(ours.admin, { id: operation.clusterId })
    expect(await rowOf(operation)).toMatchObject({ kind: 'EXTERNAL', saltCredentialId: null })
  })

  test('is refused for external clusters', async () => {
    const cluster = await addSlurmCluster(ours.admin, { name: 'other', controllerNodeId: nodes[5]!.id })
    await expect(updateSlurmCluster(ours.admin, { id: cluster.id, saltCredentialId: await salt() })).rejects.toThrow(
      /The cluster other is external. Only managed clusters can use Salt/,
    )
  })
})
