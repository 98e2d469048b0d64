import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addSlurmCluster } from '../../../../../../packages/core/src/clusters/index.ts'
import { inTransaction } from '../../../../../../packages/core/src/kernel/context.ts'
import { createConfigVersion, recordSlurmConfigRollout } from '../../../../../../packages/core/src/slurm-configs/index.ts'
import { muster, startTestApi, type TestApi } from '../../../testing/muster.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const CONF = 'SlurmctldHost=ctl\nNodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2]\n'

let t: TestApi
beforeAll(async () => {
  t = await startTestApi()
  const { admin, operator, worker } = await t.given.tenant()
  const nodes = await t.given.fleet(operator, { nodes: 2, with: { hostKey: HOST_KEY } })
  await t.signIn(admin)
  for (const [i, name] of ['prod', 'dev'].entries()) {
    const cluster = await addSlurmCluster(admin, {
      ...{ name, controllerNodeId: nodes[i]!.id, reuseConfig: false },
      ...(name === 'prod' ? { region: 'eu' } : {}),
    })
    const files = { 'slurm.conf': `ClusterName=${name}\n${name === 'dev' ? 'MaxArraySize=1\n' : ''}${CONF}` }
    const version = { clusterId: cluster.id, basedOn: null, files, origin: 'IMPORTED' as const, reason: 'adopt' }
    await inTransaction(admin, (tx, ctx) => createConfigVersion(tx, ctx, version))
    await recordSlurmConfigRollout(worker, { clusterId: cluster.id, number: 1 })
  }
})
afterAll(() => t?.close())

const file = (text: string): string => {
  const name = path.join(mkdtempSync(path.join(tmpdir(), 'snippet-test-')), 'lines')
  writeFileSync(name, text)
  return name
}

it('creates, shows, changes and deletes a snippet, and applies it cluster by cluster', async () => {
  expect((await muster('cluster snippet list')).err).toContain('No snippets yet')
  const created = await muster(
    `cluster snippet create limits --from ${file('MaxArraySize=5000')} --clusters dev --regions eu --reason test`,
  )
  expect(created).toMatchObject({ code: 0 })
  expect(created.err).toContain('prod: NOT_APPLIED. Version 1 does not have its lines.')
  expect(created.err).toContain('dev: CONFLICT. MaxArraySize is also in line 2 of slurm.conf.')
  expect(created.err).toContain('muster cluster snippet apply')
  expect((await muster('cluster config show prod')).out).not.toContain('MaxArraySize')
  expect((await muster('cluster snippet get limits')).out).toMatch(
    /^# slurm\.conf\nMaxArraySize=5000\n\nRegions: eu\ndev: CONFLICT.*\nprod: NOT_APPLIED/,
  )
  const declined = await muster('cluster snippet apply --reason test')
  expect(declined.out).toMatch(/^prod:\n[\s\S]*\+MaxArraySize=5000\n/)
  expect(declined.code).not.toBe(0)
  const both = await muster('cluster snippet apply dev prod --reason test --yes')
  expect(both.code).toBe(5)
  expect(both.out).toContain('dev: The snippet limits: MaxArraySize is also in line 2 of slurm.conf.')
  expect(both.err).toMatch(/prod: saved version 2\..*config rollout prod 2/)
  expect(both.err).toContain('1 cluster cannot be applied.')
  expect((await muster('cluster snippet list')).out).toMatch(/^limits +1 +slurm\.conf +eu +dev CONFLICT, prod PROPOSED/m)
  const updated = await muster(`cluster snippet update limits --from ${file('MaxArraySize=7000')} --clusters '' --reason test`)
  expect(updated.err).toMatch(/^Updated limits, version 2\.\nprod: NOT_APPLIED/)
  expect(await muster('cluster snippet apply --reason test --yes')).toMatchObject({ code: 0 })
  expect((await muster('cluster config show prod')).out).toContain('MaxArraySize=7000')
  const again = await muster('cluster snippet apply prod --reason test --yes')
  expect(again).toMatchObject({ code: 0, out: 'prod: unchanged. Its newest version has the lines of all its snippets.\n' })
  expect((await muster('cluster snippet apply --reason test')).err).toBe('No cluster has unapplied snippets.\n')
  expect(await muster('cluster snippet delete limits --reason test --yes')).toMatchObject({ code: 0 })
  expect(await muster('cluster snippet apply --reason test --yes')).toMatchObject({ code: 0 })
  expect((await muster('cluster config show prod')).out).not.toContain('MaxArraySize')
  expect(await muster('cluster snippet get limits')).toMatchObject({ code: 4 })
})

it('names the file and line that Slurm cannot read', async () => {
  const { code, err } = await muster(`cluster snippet create bad --from ${file('MaxArraySize=1\nNoSuchKey=1')} --reason test`)
  expect(code).not.toBe(0)
  expect(err).toMatch(/slurm\.conf:2.*NoSuchKey/)
})
