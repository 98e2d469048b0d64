import { X509Certificate } from 'node:crypto'
import { auditEntries } from '@muster/core/audit'
import type { Ctx } from '@muster/core/context'
import { createListener } from '@muster/core/events'
import { setNodeBmc } from '@muster/core/nodes'
import {
  cancelPowerRun,
  claimPowerRun,
  type PowerAction,
  type PowerRun,
  powerStates,
  readBmcs,
  reassignPowerWork,
  recordPowerCommand,
  renewPowerRun,
  startPowerRun,
} from '@muster/core/power'
import { schema } from '@muster/core/registry'
import { insertRun, LOOPBACK, slurmJob, slurmNode, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { type RedfishEmulator, startRedfishEmulator } from '@muster/lab'
import { and, eq, like, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBmcLogins } from '../redfish/open-driver.ts'
import { createCertificate } from '../testing/slurmrestd.ts'
import { bmcReadHandler } from './bmc-read.ts'
import { powerRunHandler } from './power-run.ts'

const { nodeLocks, nodeBmcs, powerRunItems, powerRuns, bmcReadings, slurmClusters, slurmJobs, slurmNodes, slurmPowerSavings } =
  schema
const SYSTEMS = 4
const TIMES = {
  pollMs: 1,
  settleMs: 50,
  deadlineMs: { ON: 5000, OFF: 200, FORCE_OFF: 5000, RESTART: 5000, CYCLE: 5000 },
}

let t: TestRuntime
let ours: TenantFixture
let bmc: RedfishEmulator
let nodes: { id: string; name: string }[]
let certificate: { key: string; cert: string }
let credentialId: string
let listener: Awaited<ReturnType<typeof createListener>>
beforeAll(async () => {
  t = await testRuntime()
  certificate = createCertificate()
  listener = await createListener(t.url, t.runtime.log)
})
afterAll(async () => {
  await listener?.close()
  await t.close()
})
beforeEach(async () => {
  ours = await t.given.tenant()
  bmc = await startRedfishEmulator({ certificate, systems: SYSTEMS })
  credentialId = (await t.given.credential(ours.admin, 'BMC')).id
  nodes = await t.given.fleet(ours.admin, { nodes: SYSTEMS, prefix: 'p' })
  const fingerprint = new X509Certificate(certificate.cert).fingerprint256
  for (const [i, { id: nodeId }] of nodes.entries())
    await setNodeBmc(
      ours.admin,
      { nodeId, address: '127.0.0.1', port: bmc.port, credentialId, fingerprint, systemPath: `/redfish/v1/Systems/${i + 1}` },
      LOOPBACK,
    )
})
afterEach(() => bmc.close())

const deps = (stopping = new AbortController().signal) => ({
  ...{ runtime: t.runtime, config: { LOCAL_TARGETS: LOOPBACK }, workerId: 'w', listener, stopping },
  ...{ logins: createBmcLogins(), powerTimes: TIMES },
})
const entryOf = ({ id }: { id: string }) => ({ id, tenantId: ours.tenant.id })
const handle = (run: PowerRun, stopping?: AbortSignal) => powerRunHandler(deps(stopping))(entryOf(run))
const start = (action: PowerAction, more: Partial<Parameters<typeof startPowerRun>[1]> = {}, ctx: Ctx = ours.admin) =>
  startPowerRun(ctx, { action, nodeIds: nodes.map(({ id }) => id), reason: 'test', delaySeconds: 0, ...more })
const rowOf = async ({ id }: { id: string }) => (await t.runtime.db.select().from(powerRuns).where(eq(powerRuns.id, id)))[0]!
const itemsOf = ({ id }: { id: string }) =>
  t.runtime.db.select().from(powerRunItems).where(eq(powerRunItems.runId, id)).orderBy(powerRunItems.id)
const resultsOf = async (run: { id: string }) => (await itemsOf(run)).map(({ result }) => result)
const run = async (action: PowerAction, more?: Parameters<typeof start>[1]) => {
  const started = await start(action, more)
  await handle(started)
  return rowOf(started)
}
const resets = () => bmc.systems.map((system) => system.resets)
const turnAllOn = () => {
  for (const system of bmc.systems) system.powerState = 'On'
}
/** As after the end of a claim. */
const expireClaim = ({ id }: PowerRun) =>
  t.runtime.db.update(powerRuns).set({ claimedUntil: sql`now() - interval '1 second'` }).where(eq(powerRuns.id, id))

describe('a power run', () => {
  it('powers nodes on, verifies it by their states, and changes nothing the second time', async () => {
    const first = await run('ON')
    expect(first).toMatchObject({ status: 'SUCCEEDED', problemCount: 0, targetCount: SYSTEMS })
    expect((await itemsOf(first)).map(({ before, after, result }) => [before, after, result])).toEqual(
      nodes.map(() => ['OFF', 'ON', 'DONE']),
    )
    expect(await resultsOf(await run('ON'))).toEqual(nodes.map(() => 'UNCHANGED'))
    expect(resets()).toEqual(nodes.map(() => ['On']))
    const states = await powerStates(
      t.runtime.db,
      ours.viewer,
      nodes.map(({ id }) => id),
    )
    expect([...states.values()].map(({ state }) => state)).toEqual(nodes.map(() => 'ON'))
    expect(bmc.sessions.size).toBe(0)
  })

  it('resets nodes that slurmctld resumes, and powers those on that are off', async () => {
    bmc.systems[1]!.powerState = 'On'
    const nodeIds = [nodes[0]!.id, nodes[1]!.id]
    const byPerson = await run('CYCLE', { nodeIds })
    expect(await resultsOf(byPerson)).toEqual(['REFUSED', 'DONE'])
    const bySlurm = await start('CYCLE', { nodeIds })
    const [cluster] = await t.runtime.db
      .insert(slurmClusters)
      .values({ tenantId: ours.tenant.id, name: 'prod', kind: 'MANAGED', createdByName: 'x' })
      .returning()
    const settings = { suspendTimeoutSeconds: 300, resumeTimeoutSeconds: 600 } as never
    const saving = { clusterId: cluster!.id, tenantId: ours.tenant.id, settings, tokenHashes: [] }
    await t.runtime.db.insert(slurmPowerSavings).values(saving)
    await t.runtime.db.update(powerRuns).set({ slurmClusterId: cluster!.id }).where(eq(powerRuns.id, bySlurm.id))
    await handle(bySlurm)
    expect(await resultsOf(bySlurm)).toEqual(['DONE', 'DONE'])
    const [off, on] = resets()
    expect([off, on]).toEqual([['On'], ['PowerCycle', 'PowerCycle']])
  })

  it('audits the request, each command before it is sent, and the end, with the reason', async () => {
    const { id } = await run('ON', { nodeIds: [nodes[0]!.id] })
    const entries = await t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.objectId, id), like(auditEntries.action, 'power_run.%')))
      .orderBy(auditEntries.id)
    expect(entries.map(({ action, reason, details }) => [action, reason, details])).toMatchObject([
      ['power_run.start', 'test', { action: 'ON', nodes: nodes[0]!.name, targetCount: 1 }],
      ['power_run.send', 'test', { node: nodes[0]!.name, command: 'Reset On', before: 'OFF' }],
      ['power_run.finish', 'test', { status: 'SUCCEEDED', results: { DONE: nodes[0]!.name } }],
    ])
  })

  it('has at most N nodes in progress', async () => {
    bmc.readsInTransition = Number.POSITIVE_INFINITY
    const started = await start('ON', { parallelism: 2 })
    const ending = handle(started)
    await vi.waitFor(() => expect(resets().flat()).toHaveLength(2))
    // The two are read several times, and no third command is sent meanwhile.
    const reads = bmc.requests.length
    await vi.waitFor(() => expect(bmc.requests.length).toBeGreaterThan(reads + 10))
    expect(resets().flat()).toHaveLength(2)
    bmc.readsInTransition = 0
    bmc.settle()
    await ending
    expect(await resultsOf(started)).toEqual(nodes.map(() => 'DONE'))
  })

  it('that is canceled sends no further command, and verifies those that were sent', async () => {
    bmc.readsInTransition = Number.POSITIVE_INFINITY
    const started = await start('ON', { parallelism: 1 })
    const ending = handle(started)
    await vi.waitFor(() => expect(resets().flat()).toHaveLength(1))
    await cancelPowerRun(ours.operator, { id: started.id })
    bmc.settle()
    await ending
    expect(await rowOf(started)).toMatchObject({ status: 'CANCELED', problemCount: 3 })
    expect((await resultsOf(started)).sort()).toEqual(['DONE', 'NOT_SENT', 'NOT_SENT', 'NOT_SENT'])
    expect(resets().flat()).toHaveLength(1)
    await expect(cancelPowerRun(ours.operator, { id: started.id })).rejects.toThrow(/has ended: CANCELED/)
  })

  it('restarts and cycles nodes that are on, by the time of the last reset', async () => {
    turnAllOn()
    bmc.readsInTransition = 0
    expect(await resultsOf(await run('CYCLE'))).toEqual(nodes.map(() => 'DONE'))
    expect(await resultsOf(await run('RESTART'))).toEqual(nodes.map(() => 'DONE'))
    expect(resets()).toEqual(nodes.map(() => ['PowerCycle', 'GracefulRestart']))
  })

  it('does not claim a reset that the BMC does not show', async () => {
    turnAllOn()
    bmc.readsInTransition = 0
    for (const system of bmc.systems) system.lastReset = null
    expect(await resultsOf(await run('CYCLE'))).toEqual(nodes.map(() => 'ACCEPTED'))
  })

  it('says when the operating system ignores a shutdown', async () => {
    turnAllOn()
    bmc.readsInTransition = Number.POSITIVE_INFINITY
    const ended = await run('OFF', { nodeIds: [nodes[0]!.id] })
    expect(ended).toMatchObject({ status: 'FAILED' })
    expect(await itemsOf(ended)).toMatchObject([
      { result: 'NOT_VERIFIED', after: 'POWERING_OFF', message: expect.stringMatching(/force-off does not ask it/) },
    ])
  })

  it('stores the words of a BMC that refuses', async () => {
    bmc.resetTypes = ['On', 'ForceOff']
    turnAllOn()
    bmc.systems[0]!.powerState = 'Off'
    const ended = await run('NMI')
    expect(await itemsOf(ended)).toMatchObject([
      { result: 'REFUSED', message: 'The node is off. Power it on instead.' },
      ...nodes.slice(1).map(() => ({ result: 'REFUSED', message: 'The BMC does not support Nmi. It supports On, ForceOff.' })),
    ])
    expect(resets().flat()).toEqual([])
  })

  it('sends an NMI once to nodes that are on, and reports only that the BMC accepted it', async () => {
    turnAllOn()
    const ended = await run('NMI')
    expect(ended).toMatchObject({ status: 'SUCCEEDED', problemCount: 0 })
    expect(await itemsOf(ended)).toMatchObject(nodes.map(() => ({ result: 'ACCEPTED', before: 'ON', after: 'ON' })))
    expect(resets()).toEqual(nodes.map(() => ['Nmi']))
    expect(bmc.systems.map(({ powerState }) => powerState)).toEqual(nodes.map(() => 'On'))
  })

  it('sets the device of the next boot', async () => {
    expect(await resultsOf(await run('BOOT_ONCE', { bootDevice: 'PXE' }))).toEqual(nodes.map(() => 'DONE'))
    await run('ON')
    expect(bmc.systems.map(({ booted }) => booted)).toEqual(nodes.map(() => ['Pxe']))
    await expect(start('BOOT_ONCE')).rejects.toMatchObject({ issues: [{ path: 'bootDevice' }] })
    await expect(start('ON', { bootDevice: 'PXE' })).rejects.toMatchObject({ issues: [{ path: 'bootDevice' }] })
  })
})

describe('a BMC that does not answer', () => {
  it('is UNKNOWN, never off, and gets no command', async () => {
    turnAllOn()
    await run('ON')
    await bmc.close()
    const ended = await run('FORCE_OFF')
    expect(ended).toMatchObject({ status: 'FAILED' })
    expect(await resultsOf(ended)).toEqual(nodes.map(() => 'UNREACHABLE'))
    const states = await powerStates(t.runtime.db, ours.viewer, [nodes[0]!.id])
    expect(states.get(nodes[0]!.id)).toMatchObject({ state: 'UNKNOWN', readAt: expect.any(Date), error: /cannot be reached/ })
    bmc = await startRedfishEmulator({ certificate })
  })

  it('or another certificate gets no password', async () => {
    bmc.setCertificate(createCertificate())
    expect(await resultsOf(await run('ON'))).toEqual(nodes.map(() => 'UNREACHABLE'))
    expect(bmc.requests).toEqual([])
    const [reading] = await t.runtime.db.select().from(bmcReadings).where(eq(bmcReadings.tenantId, ours.tenant.id))
    expect(reading).toMatchObject({ powerState: 'UNKNOWN', offeredFingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('while it executes a cycle is asked until it answers, and gets the cycle once', async () => {
    turnAllOn()
    bmc.readsInTransition = 0
    bmc.faults.push({
      method: 'POST',
      path: /Systems\/1\/Actions/,
      answer: (response, execute) => {
        execute()
        response.destroy()
      },
    })
    const ended = await run('CYCLE')
    expect(await resultsOf(ended)).toEqual(nodes.map(() => 'DONE'))
    expect(resets()).toEqual(nodes.map(() => ['PowerCycle']))
  })

  it('and loses the command itself is not taken for one that executed it', async () => {
    turnAllOn()
    bmc.readsInTransition = 0
    bmc.faults.push({ method: 'POST', path: /Systems\/1\/Actions/, answer: (response) => response.destroy() })
    expect(await resultsOf(await run('CYCLE'))).toEqual(['NOT_VERIFIED', ...nodes.slice(1).map(() => 'DONE')])
    expect(resets()[0]).toEqual([])
  })
})

describe('a run whose worker was lost', () => {
  it('after a cycle was sent is continued without repeating it', async () => {
    turnAllOn()
    bmc.readsInTransition = Number.POSITIVE_INFINITY
    const started = await start('CYCLE')
    const stopping = new AbortController()
    const lost = handle(started, stopping.signal)
    await vi.waitFor(() => expect(resets().flat()).toHaveLength(SYSTEMS), { timeout: 30_000 })
    stopping.abort(new Error('killed'))
    await lost
    expect((await rowOf(started)).status).toBe('RUNNING')
    bmc.settle()
    // Its claim still holds: nobody else may continue.
    expect(await claimPowerRun(worker(), { id: started.id, token: 'other' })).toBeNull()
    await expireClaim(started)
    expect(await reassignPowerWork({ ...t.runtime })).toBeGreaterThan(0)
    await handle(started)
    expect(await rowOf(started)).toMatchObject({ status: 'SUCCEEDED' })
    expect(resets()).toEqual(nodes.map(() => ['PowerCycle']))
  })

  it('before a cycle was sent, but after it was recorded, does not send it, and says so', async () => {
    turnAllOn()
    const started = await start('CYCLE', { nodeIds: [nodes[0]!.id] })
    const claim = { id: started.id, token: 'killed' }
    const claimed = await claimPowerRun(worker(), claim)
    const command = { itemId: claimed!.items[0]!.id, before: 'ON', lastReset: bmc.systems[0]!.lastReset, command: 'x' } as const
    expect(await recordPowerCommand(worker(), { ...claim, ...command })).toBe('SEND')
    await expireClaim(started)
    expect(await renewPowerRun(worker(), claim)).toBeNull()
    await handle(started)
    expect(await itemsOf(started)).toMatchObject([{ result: 'NOT_VERIFIED', message: expect.stringMatching(/was not repeated/) }])
    expect(resets()[0]).toEqual([])
  })
})

describe('a protected node', () => {
  const lock = async (nodeId: string) => {
    const { id } = await insertRun(ours.admin, { status: 'RUNNING' })
    await t.runtime.db.insert(nodeLocks).values({ nodeId, jobRunId: id, acquiredAt: new Date() })
    return id
  }

  it('with a lock is neither stopped nor cycled unless forced; others are not started on', async () => {
    turnAllOn()
    const jobRunId = await lock(nodes[1]!.id)
    await expect(start('OFF')).rejects.toThrow(`The node ${nodes[1]!.name} is protected: run `)
    await expect(start('ON')).resolves.toBeDefined()
    await expect(start('FORCE_OFF', { force: true }, ours.operator)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await resultsOf(await run('FORCE_OFF', { force: true }))).toEqual(nodes.map(() => 'DONE'))
    await t.runtime.db.delete(nodeLocks).where(eq(nodeLocks.jobRunId, jobRunId))
  })

  it('with running SlurmJobs is not stopped; ended and pending jobs do not count', async () => {
    turnAllOn()
    const { tenant } = ours
    const [cluster] = await t.runtime.db
      .insert(slurmClusters)
      .values({ tenantId: tenant.id, name: 'prod', kind: 'EXTERNAL', createdByName: 'x' })
      .returning()
    const common = { tenantId: tenant.id, clusterId: cluster!.id }
    for (const { id, name } of nodes) {
      const slurm = {
        name,
        states: ['ALLOCATED'],
        state: 'ALLOCATED',
        partitions: [],
        cpus: 1,
        allocatedCpus: 1,
        gpus: 0,
        allocatedGpus: 0,
      }
      await t.runtime.db.insert(slurmNodes).values({ ...common, ...slurm, report: slurmNode(name), nodeId: id })
    }
    const job = (number: number, state: string, nodeName: string) => ({
      ...{ ...common, jobId: String(number), state, partition: 'p', nodeNames: [nodeName], report: slurmJob(number) },
    })
    await t.runtime.db
      .insert(slurmJobs)
      .values([
        job(11, 'RUNNING', nodes[0]!.name),
        job(12, 'COMPLETING', nodes[0]!.name),
        job(13, 'COMPLETED', nodes[1]!.name),
        job(14, 'PENDING', nodes[1]!.name),
      ])
    await expect(start('CYCLE')).rejects.toThrow(`The node ${nodes[0]!.name} is protected: it runs the SlurmJobs 11, 12.`)
    await expect(start('CYCLE', { nodeIds: nodes.slice(1).map(({ id }) => id) })).resolves.toBeDefined()
    await expect(start('CYCLE', { force: true })).resolves.toMatchObject({ isForced: true })
  })

  it('that got its lock after the request is refused right before the command', async () => {
    turnAllOn()
    const started = await start('FORCE_OFF')
    await lock(nodes[2]!.id)
    await handle(started)
    expect(await resultsOf(started)).toEqual(['DONE', 'DONE', 'REFUSED', 'DONE'])
    expect(resets()[2]).toEqual([])
  })

  it('executes one power run at a time', async () => {
    turnAllOn()
    bmc.readsInTransition = Number.POSITIVE_INFINITY
    const [one, two] = [await start('CYCLE', { nodeIds: [nodes[0]!.id] }), await start('FORCE_OFF', { nodeIds: [nodes[0]!.id] })]
    const first = handle(one)
    await vi.waitFor(() => expect(resets()[0]).toHaveLength(1))
    await handle(two)
    expect(await itemsOf(two)).toMatchObject([{ result: 'REFUSED', message: expect.stringMatching(/^Another power run/) }])
    bmc.settle()
    await first
    expect(await resultsOf(one)).toEqual(['DONE'])
  })
})

describe('a reading of a BMC', () => {
  it('stores state, inventory, sensors and events', async () => {
    const nodeId = nodes[0]!.id
    await readBmcs(ours.operator, { nodeIds: [nodeId] })
    const [row] = await t.runtime.db.select().from(nodeBmcs).where(eq(nodeBmcs.nodeId, nodeId))
    await bmcReadHandler(deps())(entryOf(row!))
    const [reading] = await t.runtime.db.select().from(bmcReadings).where(eq(bmcReadings.bmcId, row!.id))
    expect(reading).toMatchObject({
      ...{ powerState: 'OFF', error: null, requestedAt: null, inventory: { serial: 'EMU-1' } },
      ...{ sensors: { length: 3 }, events: { length: 2 } },
    })
    await expect(readBmcs(ours.viewer, { nodeIds: [nodeId] })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const theirs = await t.given.tenant()
    await expect(readBmcs(theirs.operator, { nodeIds: [nodeId] })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

const worker = () => ({ ...ours.admin, actor: { kind: 'worker', id: 'w', name: 'w' } }) as unknown as typeof ours.admin
