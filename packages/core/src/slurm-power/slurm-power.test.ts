import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { removeSlurmCluster, slurmClusters, slurmNodes } from '../clusters/index.ts'
import { slurmJobs } from '../clusters/tables.ts'
import { type Ctx, tenantCtx } from '../kernel/context.ts'
import { removeNodeBmc, setNodeBmc } from '../nodes/index.ts'
import {
  claimPowerRun,
  finishPowerRun,
  type PowerResult,
  powerRunItems,
  powerRuns,
  recordPowerCommand,
  recordPowerResult,
} from '../power/index.ts'
import { nodeLocks } from '../run-queue/tables.ts'
import { expandHostlist } from '../selection/index.ts'
import { slurmConfigVersions } from '../slurm-configs/index.ts'
import { slurmOperations } from '../slurm-operations/index.ts'
import { prepareClusterGroup, previewSlurmScaleOut, releaseSlurmCluster } from '../slurm-scaling/index.ts'
import { insertRun } from '../testing/insert-run.ts'
import { LOOPBACK } from '../testing/loopback.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { type ScalingFixture, scalingFixture } from '../testing/scaling-fixture.ts'
import { slurmJob, slurmNode } from '../testing/slurm-fixture.ts'
import {
  completePowerSaving,
  findPowerClient,
  powerOnSuspended,
  preparePowerSaving,
  previewSlurmPowerSaving,
  removePowerSaving,
  requestSlurmPower,
  setSlurmPowerSaving,
  slurmPowerRequests,
  slurmPowerSavings,
} from './index.ts'
import { hashPowerToken } from './power-token.ts'

const SETTINGS = { apiUrl: 'https://muster.example.org', suspendTimeSeconds: 600 }

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime({ vault: 'real' })
})
afterAll(() => t.close())

let fixture: ScalingFixture
let clusterId: string
/** slurmctld of the cluster, as the API sees it. */
let controller: Ctx
/** Names in Slurm; the second one has no BMC. */
let first: string
let second: string
beforeEach(async () => {
  fixture = await scalingFixture(t)
  const { ours, nodes, created } = fixture
  clusterId = await created()
  await prepareClusterGroup(ours.worker, { clusterId, nodeIds: [nodes[0]!, nodes[1]!, nodes[10]!].map(({ id }) => id) })
  await t.runtime.db.update(slurmClusters).set({ version: '22.05.8' }).where(eq(slurmClusters.id, clusterId))
  const members = [nodes[1]!, nodes[10]!]
  ;[first, second] = members.map(({ name }) => name.toLowerCase()) as [string, string]
  for (const node of members) await report(node.name.toLowerCase(), node.id)
  await addBmc(nodes[1]!.id)
  controller = tenantCtx(t.runtime, ours.tenant.id, { kind: 'system', id: null, name: 'slurmctld of prod' }) as Ctx
})

const report = (name: string, nodeId: string) =>
  t.runtime.db.insert(slurmNodes).values({
    ...{ tenantId: fixture.ours.tenant.id, clusterId, name, nodeId, matchedBy: 'HOSTNAME' as const },
    ...{ states: ['IDLE'], state: 'IDLE', partitions: ['batch'], cpus: 1, allocatedCpus: 0, gpus: 0, allocatedGpus: 0 },
    report: slurmNode(name),
  })
const addBmc = async (nodeId: string) => {
  const { id: credentialId } = await t.given.credential(fixture.ours.admin, 'BMC')
  const address = { address: '127.0.0.1', port: 1, credentialId }
  await setNodeBmc(fixture.ours.admin, { nodeId, ...address, systemPath: `/redfish/v1/Systems/${nodeId}` }, LOOPBACK)
}
const preview = (settings: object | null = SETTINGS, ctx = fixture.ours.admin) =>
  previewSlurmPowerSaving(ctx, { clusterId, settings: settings as typeof SETTINGS | null })
async function set(settings: object | null = SETTINGS) {
  const { fingerprint } = await preview(settings)
  return setSlurmPowerSaving(fixture.ours.admin, { clusterId, settings: settings as never, fingerprint, reason: 'test' })
}
/** As the worker does. @returns the plan of the operation */
async function enable() {
  const operation = await set()
  const { settings, controllers } = operation.plan as { settings: never; controllers: { nodeId: string }[] }
  const scope = { clusterId, controllerIds: controllers.map(({ nodeId }) => nodeId) }
  await preparePowerSaving(fixture.ours.worker, { ...scope, settings })
  await completePowerSaving(fixture.ours.worker, { clusterId, settings })
  await fixture.end(operation)
  return { operation, scope, settings }
}
const ask = (verb: 'SUSPEND' | 'RESUME', hostlist = first) => requestSlurmPower(controller, { clusterId, verb, hostlist })
const runs = async () =>
  (await t.runtime.db.select().from(powerRuns).where(eq(powerRuns.tenantId, fixture.ours.tenant.id)).orderBy(powerRuns.id)).map(
    ({ id, action, slurmClusterId }) => ({ id, action, slurmClusterId }),
  )
const actions = async () => (await runs()).map(({ action }) => action)
const requestsAudited = async () => {
  const { id: tenantId } = fixture.ours.tenant
  const rows = await t.runtime.db
    .select({ details: auditEntries.details })
    .from(auditEntries)
    .where(and(eq(auditEntries.tenantId, tenantId), eq(auditEntries.action, 'slurm_power.request')))
    .orderBy(auditEntries.id)
  return rows.map(({ details }) => details as { verb: string })
}
/** Ends the newest power run as a worker does. */
async function endRun(result: PowerResult = 'DONE', after: 'ON' | 'OFF' | null = 'OFF') {
  const { worker } = fixture.ours
  const claim = { id: (await runs()).at(-1)!.id, token: 'w' }
  for (const { id } of (await claimPowerRun(worker, claim))!.items)
    await recordPowerResult(worker, { ...claim, itemId: id, result, after, message: null })
  await finishPowerRun(worker, claim)
}

describe('setSlurmPowerSaving', () => {
  test('renders slurm.conf, and excludes nodes that it cannot power, with the reasons', async () => {
    const found = await preview({ ...SETTINGS, excludedPartitions: ['batch'] })
    expect([...found.nodes.keys()]).toEqual([first])
    expect(found.excluded).toEqual([{ name: second, reason: expect.stringContaining('has no BMC') }])
    const added = found.config.diff[0]!.lines.filter(({ kind }) => kind === '+').map(({ text }) => text)
    expect(added).toEqual([
      'SuspendProgram=/usr/local/lib/muster-slurm/suspend',
      'ResumeProgram=/usr/local/lib/muster-slurm/resume',
      'SuspendTime=600',
      'SuspendTimeout=300',
      'ResumeTimeout=600',
      'SuspendRate=60',
      'ResumeRate=60',
      `SuspendExcNodes=${second}`,
      'SuspendExcParts=batch',
    ])
    const operation = await set()
    expect(operation).toMatchObject({ kind: 'POWER_SAVING', configNumber: 2, input: { isOn: true, from: 1, to: 2 } })
    const versions = await t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, clusterId))
    expect(versions.map(({ origin }) => origin)).toEqual(['CREATED', 'POWER_SAVING'])
  })

  test('refuses wrong settings, wrong callers, and what would power nothing', async () => {
    await expect(preview({ ...SETTINGS, apiUrl: 'http://muster.example.org' })).rejects.toThrow(/https/)
    for (const rate of ['suspendRate', 'resumeRate']) await expect(preview({ ...SETTINGS, [rate]: 0 })).rejects.toThrow(rate)
    await expect(preview({ ...SETTINGS, excludedNodes: 'nosuch' })).rejects.toThrow(/no node nosuch/)
    await expect(preview({ ...SETTINGS, excludedPartitions: ['nosuch'] })).rejects.toThrow(/no partition nosuch/)
    await expect(preview(SETTINGS, fixture.ours.operator)).rejects.toThrow(/slurm:power:write/)
    const others = await t.given.tenant()
    await expect(preview(SETTINGS, others.admin)).rejects.toThrow(/There is no cluster/)
    await expect(set({ ...SETTINGS, excludedNodes: first })).rejects.toThrow(/No node .* could be suspended/)
    await expect(set(null)).rejects.toThrow(/is off already/)
    const old = await preview()
    await addBmc(fixture.nodes[10]!.id)
    const request = { clusterId, settings: SETTINGS, fingerprint: old.fingerprint, reason: 'test' }
    await expect(setSlurmPowerSaving(fixture.ours.admin, request)).rejects.toThrow(/changed since the preview/)
    const operations = await t.runtime.db.select().from(slurmOperations).where(eq(slurmOperations.clusterId, clusterId))
    expect(operations.map(({ kind }) => kind)).toEqual(['CREATE'])
  })

  test('powers nodes of a cloud, makes Slurm list them, and refuses those that nothing could start', async () => {
    const setState = (...names: string[]) =>
      t.runtime.db.execute(sql`
        update slurm_config_versions
        set files = files || jsonb_build_object('slurm.conf', regexp_replace(files->>'slurm.conf',
          ${`^(NodeName=(?:${names.join('|')}) [^\\n]*?)( State=CLOUD)?$`}, '\\1 State=CLOUD', 'gn'))
        where cluster_id = ${clusterId}`)
    await setState(first)
    const { blockedReason, files } = await preview()
    expect(blockedReason).toBeNull()
    expect(files['slurm.conf']).toContain('PrivateData=cloud\n')
    await enable()
    await setState(first)
    await t.runtime.db.update(slurmClusters).set({ configNumber: 2 }).where(eq(slurmClusters.id, clusterId))
    expect((await preview(null)).blockedReason).toContain(`${first}: nodes with State=CLOUD work only with power saving`)
    await setState(first, second)
    expect((await preview()).blockedReason).toMatch(new RegExp(`^${second}: only power saving can start .*has no BMC`))
    expect((await preview({ ...SETTINGS, excludedNodes: first })).blockedReason).toContain(
      `may not power them. ${first} is excluded.`,
    )
    await t.runtime.db.update(slurmClusters).set({ version: '23.11.4' }).where(eq(slurmClusters.id, clusterId))
    await addBmc(fixture.nodes[10]!.id)
    const later = await preview()
    expect(later.blockedReason).toBeNull()
    expect(later.nodes.has(second)).toBe(true)
  })

  test('excludes new nodes without a BMC from a scale-out', async () => {
    await enable()
    const { files } = (
      await t.runtime.db.select().from(slurmConfigVersions).where(eq(slurmConfigVersions.clusterId, clusterId))
    )[1]!
    expect(files['slurm.conf']).toContain(`SuspendExcNodes=${second}\n`)
    await t.runtime.db.update(slurmClusters).set({ configNumber: 2 }).where(eq(slurmClusters.id, clusterId))
    await addBmc(fixture.nodes[3]!.id)
    const { diff } = await previewSlurmScaleOut(fixture.ours.admin, { clusterId, nodeIds: fixture.idsOf(2, 4) })
    const [line] = diff[0]!.lines.filter(({ kind, text }) => kind === '+' && text.startsWith('SuspendExcNodes'))
    const without = fixture.nodes[2]!.name.toLowerCase()
    expect(expandHostlist(line!.text.replace('SuspendExcNodes=', '')).toSorted()).toEqual([second, without].toSorted())
  })
})

describe('the token of controllers', () => {
  test('is stored as a hash and an encrypted variable of the controllers, and identifies the cluster', async () => {
    const { scope, settings } = await enable()
    const [row] = await t.runtime.db.select().from(slurmPowerSavings).where(eq(slurmPowerSavings.clusterId, clusterId))
    expect(row!.tokenHashes).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(scope.controllerIds).toEqual([fixture.nodes[0]!.id])
    // The token itself is only in the encrypted variable.
    const token = 'msp_test'
    await t.runtime.db
      .update(slurmPowerSavings)
      .set({ tokenHashes: [hashPowerToken(token)] })
      .where(eq(slurmPowerSavings.clusterId, clusterId))
    expect(await findPowerClient(t.runtime, token)).toMatchObject({
      clusterId,
      cluster: 'prod',
      tenantId: fixture.ours.tenant.id,
    })
    expect(await findPowerClient(t.runtime, 'msp_other')).toBeNull()
    // While a new token is distributed, both are valid; then only the new one.
    await preparePowerSaving(fixture.ours.worker, { ...scope, settings })
    expect(await findPowerClient(t.runtime, token)).not.toBeNull()
    await completePowerSaving(fixture.ours.worker, { clusterId, settings })
    expect(await findPowerClient(t.runtime, token)).toBeNull()
  })

  test('is revoked when power saving ends or the tenant is suspended, and prevents a release before', async () => {
    const { scope } = await enable()
    await expect(releaseSlurmCluster(fixture.ours.admin, { id: clusterId })).rejects.toThrow(/Turn power saving off first/)
    await removePowerSaving(fixture.ours.worker, scope)
    await removePowerSaving(fixture.ours.worker, scope)
    await expect(ask('SUSPEND')).rejects.toThrow(/is off/)
    await releaseSlurmCluster(fixture.ours.admin, { id: clusterId })
    await removeSlurmCluster(fixture.ours.admin, { id: clusterId })
  })
})

describe('requestSlurmPower', () => {
  beforeEach(() => enable())

  test('starts a power run, and no other one for a repeated request', async () => {
    expect(await ask('SUSPEND')).toEqual({ accepted: first, waiting: [], refused: [] })
    expect(await ask('SUSPEND')).toEqual({ accepted: first, waiting: [], refused: [] })
    expect(await runs()).toMatchObject([{ action: 'OFF', slurmClusterId: clusterId }])
    expect(await ask('RESUME')).toMatchObject({
      accepted: '',
      waiting: [{ name: first, reason: expect.stringContaining('has not ended') }],
    })
    await endRun()
    expect(await ask('RESUME')).toMatchObject({ accepted: first })
    expect(await actions()).toEqual(['OFF', 'ON'])
    // The repeated request is not among them.
    expect(await requestsAudited()).toMatchObject([
      { verb: 'SUSPEND', accepted: first, waiting: [] },
      { verb: 'RESUME', accepted: '', waiting: [{ name: first }] },
      { verb: 'RESUME', accepted: first, waiting: [] },
    ])
  })

  test('powers only nodes that Muster added to the cluster, and none that runs its services', async () => {
    const { nodes } = fixture
    // The report of a controller can match any node.
    await report('foreign', nodes[5]!.id)
    await report('ctl', nodes[0]!.id)
    for (const node of [nodes[0]!, nodes[5]!]) await addBmc(node.id)
    const { accepted, refused } = await ask('SUSPEND', `foreign,ctl,nosuch,${first},${second}`)
    expect(accepted).toBe(first)
    expect(refused.map(({ name, reason }) => [name, reason])).toEqual([
      ['foreign', expect.stringContaining('no node that Muster added')],
      ['ctl', expect.stringContaining('runs services')],
      ['nosuch', expect.stringContaining('no node that Muster added')],
      [second, expect.stringContaining('has no BMC')],
    ])
    const items = await t.runtime.db.select().from(powerRunItems).where(eq(powerRunItems.tenantId, fixture.ours.tenant.id))
    expect(items.map(({ nodeId }) => nodeId)).toEqual([nodes[1]!.id])
    await expect(ask('SUSPEND', 'n[1-')).rejects.toThrow(/pair up/)
  })

  test('suspends nodes despite old jobs of the cluster, but not during a run, and restarts them afterwards', async () => {
    const { ours, nodes } = fixture
    const report = slurmJob(7, { states: ['RUNNING'], nodes: first })
    await t.runtime.db.insert(slurmJobs).values({
      ...{ tenantId: ours.tenant.id, clusterId, jobId: '7', state: 'RUNNING', partition: 'batch', nodeNames: [first], report },
    })
    const { id: jobRunId } = await insertRun(ours.admin, { status: 'RUNNING' })
    await t.runtime.db.insert(nodeLocks).values({ jobRunId, nodeId: nodes[1]!.id, acquiredAt: new Date() })
    expect(await ask('SUSPEND')).toMatchObject({
      accepted: '',
      waiting: [{ name: first, reason: expect.stringContaining('holds its lock') }],
    })
    await t.runtime.db.delete(nodeLocks).where(eq(nodeLocks.jobRunId, jobRunId))
    // slurmctld regards it as powered down; it returns only after a boot.
    await ask('RESUME')
    expect(await actions()).toEqual(['CYCLE'])
  })

  test.each<[PowerResult, 'ON' | 'OFF' | null, string]>([
    ['DONE', 'OFF', 'ON'],
    ['REFUSED', 'ON', 'CYCLE'],
    ['UNREACHABLE', null, 'CYCLE'],
    ['NOT_SENT', null, 'CYCLE'],
    ['NOT_VERIFIED', 'ON', 'CYCLE'],
    ['NOT_VERIFIED', null, 'ON'],
  ])(
    'resumes a node after a suspend that ended with %s and %s by %s, also if the resume waits',
    async (result, after, action) => {
      await ask('SUSPEND')
      // It waits for the end of the suspend, and repeats itself.
      for (const _ of [1, 2]) expect(await ask('RESUME')).toMatchObject({ accepted: '', waiting: [{ name: first }] })
      expect((await requestsAudited()).map(({ verb }) => verb)).toEqual(['SUSPEND', 'RESUME'])
      await endRun(result, after)
      expect(await ask('RESUME')).toMatchObject({ accepted: first })
      expect(await ask('RESUME')).toMatchObject({ accepted: first })
      expect(await actions()).toEqual(['OFF', action])
    },
  )

  test('resets a node after a suspend and a resume that waited for its lock', async () => {
    const { ours, nodes } = fixture
    const { id: jobRunId } = await insertRun(ours.admin, { status: 'RUNNING' })
    await t.runtime.db.insert(nodeLocks).values({ jobRunId, nodeId: nodes[1]!.id, acquiredAt: new Date() })
    for (const verb of ['SUSPEND', 'RESUME', 'RESUME'] as const)
      expect(await ask(verb)).toMatchObject({ accepted: '', waiting: [{ name: first }] })
    await t.runtime.db.delete(nodeLocks).where(eq(nodeLocks.jobRunId, jobRunId))
    expect(await ask('RESUME')).toMatchObject({ accepted: first })
    expect(await actions()).toEqual(['CYCLE'])
  })

  test('sends no command after the time for which slurmctld waits for it', async () => {
    const { ours } = fixture
    const send = async (id: string, token: string) => {
      const claim = { id, token }
      const [item] = (await claimPowerRun(ours.worker, claim))!.items
      const command = { itemId: item!.id, before: 'ON' as const, lastReset: null, command: 'x' }
      const permission = await recordPowerCommand(ours.worker, { ...claim, ...command })
      if (permission !== 'SEND')
        await recordPowerResult(ours.worker, { ...claim, itemId: item!.id, result: 'REFUSED', after: 'ON', message: null })
      await finishPowerRun(ours.worker, claim)
      return permission
    }
    const age = async (seconds: number) => {
      const { id } = (await runs()).at(-1)!
      await t.runtime.db
        .update(powerRuns)
        .set({ createdAt: sql`now() - make_interval(secs => ${seconds})` })
        .where(eq(powerRuns.id, id))
      return id
    }
    const tooOld = { refused: expect.stringContaining('too old') }
    await ask('SUSPEND')
    expect(await send(await age(310), 'a')).toEqual(tooOld)
    await ask('RESUME')
    expect(await send(await age(610), 'b')).toEqual(tooOld)
    await ask('SUSPEND')
    expect(await send(await age(290), 'c')).toBe('SEND')
  })

  test('keeps the BMC of a node that slurmctld may suspend, until the node is excluded', async () => {
    const { ours, nodes } = fixture
    const { id: nodeId } = nodes[1]!
    await expect(removeNodeBmc(ours.admin, { nodeId })).rejects.toThrow(`powers the node ${first} through its BMC`)
    await t.runtime.db
      .update(slurmPowerSavings)
      .set({ settings: sql`${slurmPowerSavings.settings} || jsonb_build_object('excludedNodes', ${first}::text)` })
      .where(eq(slurmPowerSavings.clusterId, clusterId))
    await expect(removeNodeBmc(ours.admin, { nodeId })).resolves.toMatchObject({ id: nodeId })
  })

  test('powers suspended nodes on at the end, after their suspends, and only once', async () => {
    await ask('SUSPEND')
    const { id: operationId } = await set(null)
    const powerOn = (bootedAt: string) =>
      powerOnSuspended(fixture.ours.worker, { operationId, clusterId, reason: 'off', bootedAt: { [first]: bootedAt } })
    expect(await powerOn('2026-01-01T00:00:00.000Z')).toBeNull()
    const [suspend] = await t.runtime.db.select().from(powerRuns).where(eq(powerRuns.slurmClusterId, clusterId))
    expect(suspend).toMatchObject({ action: 'OFF', status: 'CANCELING' })
    await endRun()
    expect(await powerOn('2026-01-02T00:00:00.000Z')).toEqual({ [first]: '2026-01-02T00:00:00.000Z' })
    // As another worker does that continues the operation.
    expect(await powerOn('2026-01-03T00:00:00.000Z')).toEqual({ [first]: '2026-01-02T00:00:00.000Z' })
    await endRun('DONE', 'ON')
    expect(await ask('SUSPEND')).toMatchObject({ accepted: '', waiting: [{ reason: expect.stringContaining('turned off') }] })
    expect(await actions()).toEqual(['OFF', 'ON'])
    const [request] = await t.runtime.db.select().from(slurmPowerRequests).where(eq(slurmPowerRequests.clusterId, clusterId))
    expect(request).toMatchObject({ name: first, verb: 'SUSPEND' })
  })

  test('resets nodes at the end that were never off, also when their resume waits', async () => {
    await ask('SUSPEND')
    await ask('RESUME')
    const { id: operationId } = await set(null)
    await endRun('UNREACHABLE', null)
    const request = { operationId, clusterId, reason: 'off', bootedAt: {} }
    expect(await powerOnSuspended(fixture.ours.worker, request)).toEqual({ [first]: null })
    expect(await actions()).toEqual(['OFF', 'CYCLE'])
  })
})
