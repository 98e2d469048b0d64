import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addSlurmCluster, slurmClusters, updateSlurmCluster } from '../clusters/index.ts'
import { deleteCredential } from '../credentials/index.ts'
import type { SlurmOperation } from '../slurm-operations/index.ts'
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
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId, saltEauth: 'pam', saltCaCertificate: null })
    const id = operation.clusterId
    await updateSlurmCluster(ours.admin, { id, saltEauth: 'ldap' })
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId, saltEauth: 'ldap' })
    await updateSlurmCluster(ours.admin, { id, region: 'eu' })
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId, saltEauth: 'ldap' })
    await expect(deleteCredential(ours.admin, { id: saltCredentialId })).rejects.toThrow(/is used by the clusters prod/)
    await updateSlurmCluster(ours.admin, { id, saltCredentialId: null })
    expect(await rowOf(operation)).toMatchObject({ saltCredentialId: null, saltEauth: null })
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
    await expect(create({ saltCredentialId: await salt(), saltCaCertificate: 'x' })).rejects.toThrow(/certificates in PEM/)
  })

  test('of a new cluster is used by the check of its nodes', async () => {
    const saltCredentialId = await salt()
    const check = await checkSlurmReadiness(ours.admin, { nodeIds: idsOf(1, 3), saltCredentialId, saltEauth: 'ldap' })
    expect(check.salt).toEqual({ saltCredentialId, saltEauth: 'ldap', saltCaCertificate: null })
    expect((await checkSlurmReadiness(ours.admin, { nodeIds: idsOf(1, 3) })).salt).toMatchObject({ saltCredentialId: null })
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
