import { X509Certificate } from 'node:crypto'
import { slurmClusters, slurmNodes } from '@muster/core/clusters'
import { setNodeBmc } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { previewSlurmConfig, rolloutSlurmConfig, saveSlurmConfig, slurmConfigVersions } from '@muster/core/slurm-configs'
import { previewSlurmPowerSaving, setSlurmPowerSaving } from '@muster/core/slurm-power'
import { createSlurmCluster } from '@muster/core/slurm-scaling'
import { LOOPBACK } from '@muster/core/testing'
import { canRunSlurm, type RedfishEmulator, startRedfishEmulator } from '@muster/lab'
import { asc, desc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../testing/free-port.ts'
import { createManagedLab, LAB_LINES, type ManagedLab } from '../../testing/managed-lab.ts'
import { createCertificate, startTlsProxy } from '../../testing/slurmrestd.ts'
import { spawnApi, type WorkerProcess } from '../../testing/spawn-worker.ts'

const LONG = { timeout: 240_000, interval: 300 }
const CONFIG = '/etc/muster-slurm/power.json'

describe.runIf(canRunSlurm())('power saving of a managed cluster', () => {
  let m: ManagedLab
  let bmc: RedfishEmulator
  let api: WorkerProcess
  let proxy: Awaited<ReturnType<typeof startTlsProxy>>
  let apiUrl: string
  let clusterId: string

  beforeAll(async () => {
    const certificate = createCertificate()
    // Power of cpu-1.
    bmc = await startRedfishEmulator({
      certificate,
      onPower: (_system, isOn) => {
        const done = isOn ? m.lab.heal('cpu-1') : m.lab.fault('cpu-1', 'power-off')
        done.catch((error: unknown) => process.stderr.write(`power ${isOn ? 'on' : 'off'}: ${error}\n`))
      },
    })
    bmc.systems[0]!.powerState = 'On'
    m = await createManagedLab(['ctl', 'cpu-1', 'cpu-2'], { env: { LOCAL_TARGETS: `127.0.0.1:${bmc.port}` } })
    const login = await m.t.given.credential(m.fixture.admin, 'BMC')
    const fingerprint = new X509Certificate(certificate.cert).fingerprint256
    const address = { address: '127.0.0.1', port: bmc.port, credentialId: login.id, fingerprint }
    await setNodeBmc(m.fixture.admin, { nodeId: m.id('cpu-1'), ...address, systemPath: '/redfish/v1/Systems/1' }, LOOPBACK)
    const port = await freePort()
    api = spawnApi({
      ...{ DATABASE_URL: m.t.url, HOST: '127.0.0.1', PORT: String(port), MUSTER_PUBLIC_URL: `http://127.0.0.1:${port}` },
      ARTIFACT_DIR: `${m.folder}/artifacts`,
    })
    await vi.waitFor(() => expect(api.output).toContain('API listening'), LONG)
    proxy = await startTlsProxy('127.0.0.1', port, m.lab.hostAddress)
    apiUrl = `https://${m.lab.hostAddress}:${proxy.port}`
  }, 300_000)
  afterAll(async () => {
    api?.child.kill('SIGKILL')
    await m?.close()
    await Promise.all([bmc?.close(), proxy?.close()])
  })

  const settings = () => ({
    ...{ suspendTimeSeconds: 5, suspendTimeoutSeconds: 20, resumeTimeoutSeconds: 90 },
    ...{ apiUrl, caCertificate: proxy.caCertificate },
  })
  async function apply(wanted: ReturnType<typeof settings> | null) {
    const { fingerprint } = await previewSlurmPowerSaving(m.fixture.admin, { clusterId, settings: wanted })
    const row = await setSlurmPowerSaving(m.fixture.admin, { clusterId, settings: wanted, fingerprint, reason: 'test' })
    return m.ended(row)
  }
  /** Rolls out the newest version with another State of cpu-1. */
  async function setState(value: string) {
    const versions = m.t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, clusterId))
    const [newest] = await versions.orderBy(desc(slurmConfigVersions.number)).limit(1)
    const request = { clusterId, reason: 'test' }
    const changes = [{ nodes: 'cpu-1', key: 'State', value }]
    const { number } = await saveSlurmConfig(m.fixture.admin, { ...request, basedOn: newest!.number, changes })
    const { fingerprint } = await previewSlurmConfig(m.fixture.admin, { clusterId, number })
    return m.ended(await rolloutSlurmConfig(m.fixture.admin, { ...request, number, fingerprint: fingerprint! }))
  }
  const sinfo = async () => (await m.on('ctl', "sinfo --noheader --Node --format='%N %t'")).split('\n')
  const power = () => bmc.systems[0]!.powerState
  const until = (check: () => Promise<void> | void) => vi.waitFor(check, LONG)
  const call = (token: string) =>
    m.on(
      'ctl',
      `curl --silent --insecure --header 'authorization: Bearer ${token}' --json '{"verb":"RESUME","nodes":"cpu-1"}' ${apiUrl}/api/slurm/power`,
    )

  it('excludes nodes without a BMC, and gives the controllers a token that only slurmctld can read', {
    timeout: 900_000,
  }, async () => {
    const created = await createSlurmCluster(m.fixture.admin, {
      name: 'prod',
      controllerNodeId: m.id('ctl'),
      computeNodeIds: [m.id('cpu-1'), m.id('cpu-2')],
      repositoryUrl: m.repository.url,
      extraLines: LAB_LINES,
      reason: 'test',
    })
    clusterId = created.clusterId
    expect(await m.ended(created)).toMatchObject({ status: 'SUCCEEDED', error: null })
    // A lab node has the uptime of this machine. With -b, slurmd reports its own start as the boot of the node.
    for (const name of ['cpu-1', 'cpu-2'])
      await m.on(
        name,
        "sed -i 's|^ExecStart=/.*|& -b|' /etc/systemd/system/slurmd.service.d/muster.conf; systemctl restart slurmd",
      )
    // slurmctld regards it as an unexpected boot.
    await until(async () => expect(await sinfo()).toEqual(['cpu-1 down', 'cpu-2 down']))
    await m.on('ctl', 'scontrol update nodename=cpu-[1-2] state=resume')
    await until(async () => expect(await sinfo()).toEqual(['cpu-1 idle', 'cpu-2 idle']))
    const { runtime } = m.t
    await until(async () => {
      const rows = await runtime.db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, clusterId))
      expect(rows.filter(({ nodeId }) => nodeId !== null)).toHaveLength(2)
    })
    const preview = await previewSlurmPowerSaving(m.fixture.admin, { clusterId, settings: settings() })
    expect([...preview.nodes.keys()]).toEqual(['cpu-1'])
    expect(preview.excluded).toEqual([{ name: 'cpu-2', reason: expect.stringContaining('has no BMC') }])
    expect(await apply(settings())).toMatchObject({ status: 'SUCCEEDED', error: null })
    expect(await m.on('ctl', 'scontrol show config | grep -E "^(SuspendExcNodes|SuspendTime) "')).toMatch(
      /SuspendExcNodes\s+= cpu-2\nSuspendTime\s+= 5 sec/,
    )
    expect(await m.on('ctl', `stat --format='%U %a' ${CONFIG}`)).toBe('slurm 600')
  })

  it('suspends an idle node, and resumes it for a job, which runs there', { timeout: 300_000 }, async () => {
    await until(() => expect(power()).toBe('Off'))
    await until(async () => expect(await sinfo()).toEqual([expect.stringMatching(/^cpu-1 idle~/), 'cpu-2 idle']))
    const job = await m.on('ctl', 'sbatch --parsable --nodelist=cpu-1 --chdir=/tmp --output=/tmp/out --wrap="hostname"')
    await until(async () =>
      expect(await m.on('ctl', `squeue --noheader --states=all --jobs=${job} --format=%T`)).toBe('COMPLETED'),
    )
    expect(await m.on('cpu-1', 'cat /tmp/out')).toBe('cpu-1')
    expect(bmc.systems[0]!.resets.slice(0, 2)).toEqual(['GracefulShutdown', 'On'])
    const { powerRuns } = schema
    const runs = await m.t.runtime.db.select().from(powerRuns).orderBy(asc(powerRuns.id))
    expect(runs.slice(0, 2).map(({ action, status, slurmClusterId }) => [action, status, slurmClusterId])).toEqual([
      ['OFF', 'SUCCEEDED', clusterId],
      ['ON', 'SUCCEEDED', clusterId],
    ])
  })

  it('suspends and resumes a node of a cloud, which stays known while it is off', { timeout: 900_000 }, async () => {
    expect(await setState('CLOUD')).toMatchObject({ status: 'SUCCEEDED', error: null })
    // This release hides the node until power saving sets PrivateData.
    expect(await apply(settings())).toMatchObject({ status: 'SUCCEEDED', error: null })
    expect(await m.on('ctl', 'scontrol show config | grep "^PrivateData "')).toMatch(/= cloud$/)
    await until(() => expect(power()).toBe('Off'))
    const node = async () => {
      const rows = await m.t.runtime.db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, clusterId))
      const row = rows.find(({ name }) => name === 'cpu-1')!
      return { states: row.states, nodeId: row.nodeId }
    }
    await until(async () => expect(await node()).toEqual({ states: ['IDLE', 'CLOUD', 'POWERED_DOWN'], nodeId: m.id('cpu-1') }))
    const off = await previewSlurmPowerSaving(m.fixture.admin, { clusterId, settings: null })
    expect(off.blockedReason).toContain('cpu-1: nodes with State=CLOUD')
    const job = await m.on('ctl', 'sbatch --parsable --nodelist=cpu-1 --chdir=/tmp --output=/tmp/out2 --wrap="hostname"')
    await until(async () =>
      expect(await m.on('ctl', `squeue --noheader --states=all --jobs=${job} --format=%T`)).toBe('COMPLETED'),
    )
    expect(await m.on('cpu-1', 'cat /tmp/out2')).toBe('cpu-1')
    expect(await setState('UNKNOWN')).toMatchObject({ status: 'SUCCEEDED', error: null })
  })

  it('powers suspended nodes on and revokes the token when it is turned off', { timeout: 600_000 }, async () => {
    await until(() => expect(power()).toBe('Off'))
    const token = await m.on('ctl', `sed -n 's/.*"token": "\\(.*\\)".*/\\1/p' ${CONFIG}`)
    expect(await apply(null)).toMatchObject({ status: 'SUCCEEDED', error: null })
    await until(() => expect(power()).toBe('On'))
    await until(async () => expect(await sinfo()).toEqual(['cpu-1 idle', 'cpu-2 idle']))
    expect(await m.on('ctl', `ls ${CONFIG} /usr/local/lib/muster-slurm 2>/dev/null`)).toBe('')
    expect(JSON.parse(await call(token))).toEqual({ error: expect.stringContaining('not valid') })
    const [cluster] = await m.t.runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, clusterId))
    expect(cluster).toMatchObject({ kind: 'MANAGED' })
  })
})
