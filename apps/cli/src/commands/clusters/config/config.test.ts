import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addSlurmCluster, updateSlurmCluster } from '../../../../../../packages/core/src/clusters/index.ts'
import {
  importSlurmConfig,
  recordSlurmConfigDrift,
  recordSlurmConfigImport,
} from '../../../../../../packages/core/src/slurm-configs/index.ts'
import { claimSlurmOperation, finishSlurmOperation } from '../../../../../../packages/core/src/slurm-operations/index.ts'
import { muster, startTestApi, type TestApi } from '../../../testing/muster.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const CONF = 'ClusterName=alpha\nSlurmctldHost=ctl\nNodeName=n[1-2] CPUs=8\nPartitionName=debug Nodes=n[1-2]\n'

let t: TestApi
let tenant: Awaited<ReturnType<TestApi['given']['tenant']>>
let clusterId: string
beforeAll(async () => {
  t = await startTestApi()
  tenant = await t.given.tenant()
  const [node] = await t.given.fleet(tenant.operator, { nodes: 1, with: { hostKey: HOST_KEY } })
  await t.signIn(tenant.admin)
  clusterId = (await addSlurmCluster(tenant.admin, { name: 'prod', controllerNodeId: node!.id, reuseConfig: false })).id
  expect(await muster('cluster config show prod')).toMatchObject({
    code: 4,
    err: expect.stringContaining('cluster config import'),
  })
  const operation = await importSlurmConfig(tenant.admin, { clusterId, reason: 'adopt' })
  await recordSlurmConfigImport(tenant.worker, { operationId: operation.id, files: { 'slurm.conf': CONF }, basedOn: null })
  const claim = { id: operation.id, token: 'worker' }
  await claimSlurmOperation(tenant.worker, claim)
  await finishSlurmOperation(tenant.worker, claim)
})
afterAll(() => t?.close())

const file = (text: string): string => {
  const name = path.join(mkdtempSync(path.join(tmpdir(), 'config-test-')), 'slurm.conf')
  writeFileSync(name, text)
  return name
}
const edit = (text: string) => muster(`cluster config edit prod --from ${file(text)} --reason test`)

it('saves an edit, and shows versions and their difference', async () => {
  expect((await muster('cluster config show prod')).out).toBe(CONF)
  expect(await edit(CONF)).toMatchObject({ code: 0, err: 'No changes.\n' })
  expect((await edit(CONF.replaceAll('n[1-2]', 'n[1-3]'))).err).toMatch(/^Saved version 2\. Roll it out with/)
  const { out } = await muster('cluster config list prod')
  expect(out).toMatch(/^2 +- +EDITED +1 .*test$/m)
  expect(out).toMatch(/^1 +have it +IMPORTED .*adopt$/m)
  expect((await muster('cluster config diff prod 1')).out).toContain('-NodeName=n[1-2] CPUs=8\n')
})

it('sets keys, and shows them', async () => {
  const set = (words: string) => muster(`cluster config set prod ${words} --reason test`)
  expect((await set('KillWait=60 MessageTimeout=20')).err).toMatch(/^Saved version 3\./)
  expect((await set('MaxTime=1-0 --partition debug')).err).toMatch(/^Saved version 4\./)
  expect((await set('KillWait= Weight=7 --slurm-nodes n3')).err).toMatch(/^Saved version 5\./)
  expect((await muster('cluster config show prod')).out).toBe(
    'ClusterName=alpha\nSlurmctldHost=ctl\nKillWait=60\nMessageTimeout=20\nNodeName=n[1-2] CPUs=8\nNodeName=n3 CPUs=8 Weight=7\nPartitionName=debug Nodes=n[1-3] MaxTime=1-0\n',
  )
  expect((await muster('cluster config settings prod')).out).toMatch(/^KillWait +60 +30 +Seconds/m)
  expect((await muster('cluster config settings prod --partition debug')).out).toMatch(/^MaxTime +1-0 +UNLIMITED/m)
  expect(await set('KillWait')).toMatchObject({ code: 2 })
  expect((await set('State=UP --partition nosuch')).err).toContain('no partition nosuch')
})

it('names the lines of errors', async () => {
  const { code, err } = await edit(`NoSuchKey=1\n${CONF}`)
  expect(code).not.toBe(0)
  expect(err).toMatch(/slurm\.conf:1.*The key NoSuchKey is not known to Slurm/)
})

it('prints what a rollout would do', async () => {
  const { code, out } = await muster('cluster config check prod 2')
  expect(code).toBe(0)
  expect(out).toMatch(
    /\+NodeName=n\[1-3\] CPUs=8[\s\S]*slurmctld restarts; jobs go on\.\nAdded nodes: n3\.[\s\S]*Files are written on /,
  )
})

it('refuses a rollout while the configuration is reused', async () => {
  await updateSlurmCluster(tenant.admin, { id: clusterId, reuseConfig: true })
  const refused = await muster('cluster config rollout prod 2 --reason test -y')
  expect(refused).toMatchObject({ err: expect.stringContaining('is reused: Muster never writes it') })
  expect((await muster('cluster update prod --reuse-config no')).code).toBe(0)
})

it('prints how hosts differ', async () => {
  await recordSlurmConfigDrift(tenant.worker, { clusterId, drift: { ctl: null, n1: 'slurm.conf\n+KillWait=9' } })
  const { code, out } = await muster('cluster config drift prod --last')
  expect(code).not.toBe(0)
  expect(out).toMatch(/^ctl +same as version 1/m)
  expect(out).toMatch(/^n1 +differ/m)
})
