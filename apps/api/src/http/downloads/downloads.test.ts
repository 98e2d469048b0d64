import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schema } from '@muster/core/registry'
import { claimJobRun, pauseQueue, setMaxConcurrentRuns } from '@muster/core/run-queue'
import { appendJobRunEvents, finishJobRun, runJob, setRetention } from '@muster/core/runs'
import type { TenantFixture } from '@muster/core/testing'
import { registerWorker } from '@muster/core/workers'
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { globalId } from '../../graphql/shared/ids.ts'
import { testApi } from '../../testing/api.ts'
import { type HttpServer, serveHttp } from '../server.ts'

const { auditEntries } = schema
let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let base: string
let ours: TenantFixture
let theirs: TenantFixture
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  base = `http://127.0.0.1:${server.port}`
  t.api.deps.publicUrl = base
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const { id } = await t.given.credential(ours.admin, 'SSH_KEY')
  await t.given.fleet(ours.admin, { nodes: 1, with: { credentialId: id } })
})
afterAll(async () => {
  await server.stop()
  await t.close()
})

const RED = '\u001b[0;31mfatal: [gpu001]: FAILED! => {"msg": "no"}\u001b[0m'

async function aRun() {
  const { id } = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(ours.worker, { id, workerId: 'w' }))!
  const createdAt = new Date('2026-01-02T03:04:05.000Z')
  const task = { play: 'all', task: 'Try', taskUuid: 'u-1', action: 'command' }
  const events = [
    { kind: 'task_start', ...task, stdout: '\nTASK [Try] ***', createdAt },
    {
      kind: 'failed',
      ...task,
      host: 'gpu001',
      isChanged: false,
      durationMs: 1500,
      result: { msg: 'no' },
      stdout: RED,
      createdAt,
    },
    { kind: 'stats', result: { gpu001: { ok: 1, failures: 1, unreachable: 0 } }, createdAt },
  ]
  await appendJobRunEvents(ours.worker, { id, token, events })
  const folder = await mkdtemp(join(tmpdir(), 'muster-download-'))
  await writeFile(join(folder, 'file'), 'all is well')
  const artifact = { id: randomUUID(), kind: 'file' as const, path: 'out/Bericht "ä".txt', size: 11, store: t.store.name }
  const key = `${ours.tenant.id}/${id}/${artifact.id}`
  await t.store.put(key, join(folder, 'file'), 11)
  await rm(folder, { recursive: true })
  const sha256 = createHash('sha256').update('all is well').digest('hex')
  const artifacts = [{ ...artifact, sha256, key }]
  await finishJobRun(ours.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 2, artifacts })
  return { id, global: globalId('JobRun', id) }
}
const get = async (as: TenantFixture['viewer'] | null, path: string, init: RequestInit = {}) =>
  fetch(new URL(path, base), { headers: as ? { authorization: `Bearer ${await t.tokenOf(as)}` } : {}, ...init })

describe('run log', () => {
  test('is available as text, with ANSI colors, as events, and in the format of ansible-runner', async () => {
    const { global, id } = await aRun()
    const as = async (format: string) => {
      const response = await get(ours.viewer, `/api/runs/${global}/log?format=${format}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-disposition')).toContain(`attachment; filename="run-${id}`)
      return response.text()
    }
    const plain = '\nTASK [Try] ***\nfatal: [gpu001]: FAILED! => {"msg": "no"}\n'
    expect(await as('text')).toBe(plain)
    expect(await as('ansi')).toBe(`\nTASK [Try] ***\n${RED}\n`)
    const events = (await as('ndjson'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ seq, kind, startLine, lineCount }) => [seq, kind, startLine, lineCount])).toEqual([
      [1, 'task_start', 1, 2],
      [2, 'failed', 3, 1],
      [3, 'stats', 4, 0],
      [4, 'run_end', 4, 0],
    ])
    const runner = (await as('runner'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(runner[1]).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      counter: 2,
      stdout: RED,
      start_line: 2,
      end_line: 3,
      runner_ident: id,
      event: 'runner_on_failed',
      created: '2026-01-02T03:04:05.000Z',
      event_data: {
        ...{ playbook: 'connectivity_check.yml', play: 'all', task: 'Try', task_uuid: 'u-1', task_action: 'command' },
        ...{ host: 'gpu001', remote_addr: 'gpu001', duration: 1.5, res: { msg: 'no' } },
      },
    })
    expect(runner[2]).toMatchObject({ event: 'playbook_on_stats', event_data: { ok: { gpu001: 1 }, failures: { gpu001: 1 } } })
    expect(runner[3]).toMatchObject({ event: 'verbose' })
  })

  test('accepts the number, the UUID and the ID of a run', async () => {
    const { global, id } = await aRun()
    const { number } = (await t.runtime.db.query.jobRuns.findFirst({ where: { id } }))!
    const expected = await (await get(ours.viewer, `/api/runs/${global}/log`)).text()
    expect(expected).toContain('TASK [Try]')
    for (const run of [number, id]) {
      const response = await get(ours.viewer, `/api/runs/${run}/log`)
      expect([response.status, await response.text()], String(run)).toEqual([200, expected])
      expect(response.headers.get('content-disposition')).toContain(`filename="run-${run}.log"`)
    }
    // Numbers are per tenant.
    expect((await get(theirs.owner, `/api/runs/${number}/log`)).status).toBe(404)
    expect((await get(theirs.owner, `/api/runs/${id}/log`)).status).toBe(404)
    const missing = await get(ours.viewer, '/api/runs/999999/log')
    expect([missing.status, await missing.text()]).toEqual([404, 'There is no run 999999.\n'])
  })

  test('requires access to the run, and reports a removed log', async () => {
    const { global, id } = await aRun()
    const path = `/api/runs/${global}/log`
    expect((await get(null, path)).status).toBe(401)
    expect((await get(theirs.owner, path)).status).toBe(404)
    expect((await get(ours.viewer, '/api/runs/nothing/log')).status).toBe(404)
    expect((await get(ours.viewer, `${path}?format=pdf`)).status).toBe(400)
    expect((await get(ours.viewer, path, { method: 'POST' })).status).toBe(405)
    await t.runtime.db.update(schema.jobRuns).set({ logRemovedAt: sql`now()` }).where(eq(schema.jobRuns.id, id))
    const removed = await get(ours.viewer, path)
    expect([removed.status, await removed.text()]).toEqual([410, expect.stringContaining('older than logs are kept')])
  })
})

describe('artifact', () => {
  type Listed = { node: { artifacts: { path: string; downloadUrl: string | null; downloadBlockedReason: string | null }[] } }
  const listed = async (as: TenantFixture['viewer'], global: string) =>
    (
      await t.ask<Listed>(
        as,
        `{ node(id: "${global}") { ... on JobRun { artifacts { path downloadUrl downloadBlockedReason } } } }`,
      )
    ).node.artifacts[0]!

  test('is downloaded by a signed link that expires and is valid for one file', async () => {
    const { global } = await aRun()
    const { downloadUrl } = await listed(ours.viewer, global)
    const response = await fetch(downloadUrl!)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="Bericht ___.txt"; filename*=UTF-8''${encodeURIComponent('Bericht "ä".txt')}`,
    )
    expect(await response.text()).toBe('all is well')
    const other = (await listed(ours.viewer, (await aRun()).global)).downloadUrl!
    const later = new URL(downloadUrl!)
    later.searchParams.set('expires', String(Number(later.searchParams.get('expires')) + 1))
    const swapped = new URL(downloadUrl!)
    swapped.pathname = new URL(other).pathname
    const unsigned = new URL(downloadUrl!)
    unsigned.search = ''
    for (const wrong of [later, swapped, unsigned]) expect((await fetch(wrong)).status).toBe(403)
  })

  test('reports that it was removed or is in another store', async () => {
    const { global, id } = await aRun()
    const { downloadUrl } = await listed(ours.viewer, global)
    const which = eq(schema.jobArtifacts.jobRunId, id)
    await t.runtime.db.update(schema.jobArtifacts).set({ store: 's3' }).where(which)
    expect(await listed(ours.viewer, global)).toMatchObject({
      downloadUrl: null,
      downloadBlockedReason: expect.stringContaining('is in the artifact store s3'),
    })
    await t.runtime.db.update(schema.jobArtifacts).set({ store: 'local', removedAt: sql`now()` }).where(which)
    expect(await listed(ours.viewer, global)).toMatchObject({
      downloadUrl: null,
      downloadBlockedReason: expect.stringContaining('was removed on'),
    })
    expect((await fetch(downloadUrl!)).status).toBe(410)
  })
})

test('records refused and failed downloads and exports with their outcome', async () => {
  const { global, id } = await aRun()
  const { number } = (await t.runtime.db.query.jobRuns.findFirst({ where: { id } }))!
  const entriesOf = async (work: () => Promise<Response>) => {
    const before = await t.runtime.db.$count(auditEntries)
    const { status } = await work()
    const rows = await t.runtime.db.select().from(auditEntries).orderBy(asc(auditEntries.id)).offset(before)
    return { status, rows }
  }
  const run = { objectId: id, runId: id }
  const log = { action: 'job_run.download_log', outcome: 'failed', tenantId: ours.tenant.id, actorKind: 'token' }
  const nobody = { tenantId: null, actorKind: 'anonymous' }
  await t.tokenOf(ours.viewer)
  const cases: [work: () => Promise<Response>, status: number, row: object][] = [
    [() => get(ours.viewer, `/api/runs/${number}/log`), 200, { ...log, ...run, outcome: 'succeeded', objectName: `#${number}` }],
    [() => get(ours.viewer, '/api/runs/999999/log'), 404, { ...log, objectId: null, error: 'There is no run 999999.' }],
    [() => get(ours.viewer, `/api/runs/${global}/log?format=pdf`), 400, { ...log, details: { format: 'pdf' } }],
    [() => get(null, `/api/runs/${global}/log`), 401, { ...log, ...nobody }],
    [() => fetch(new URL(`/api/artifacts/${id}?signature=x`, base)), 403, { ...nobody, action: 'job_artifact.download' }],
    [
      () => get(ours.viewer, '/api/audit'),
      403,
      { action: 'audit_log.export', outcome: 'denied', permission: 'audit:read', tenantId: ours.tenant.id },
    ],
    [() => get(null, '/api/audit'), 401, { action: 'audit_log.export', outcome: 'failed', ...nobody }],
  ]
  for (const [work, expected, row] of cases) {
    const { status, rows } = await entriesOf(work)
    expect(status).toBe(expected)
    expect(rows).toMatchObject([row])
  }

  const { downloadUrl } = (
    await t.ask<{ node: { artifacts: { downloadUrl: string }[] } }>(
      ours.viewer,
      `{ node(id: "${global}") { ... on JobRun { artifacts { downloadUrl } } } }`,
    )
  ).node.artifacts[0]!
  await t.runtime.db.update(schema.jobArtifacts).set({ removedAt: sql`now()` }).where(eq(schema.jobArtifacts.jobRunId, id))
  expect(await entriesOf(() => fetch(downloadUrl))).toMatchObject({
    status: 410,
    rows: [{ action: 'job_artifact.download', outcome: 'failed', runId: id, tenantId: ours.tenant.id, actorKind: 'token' }],
  })
})

test('a queued run shows its position and waiting reason', async () => {
  const { id } = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
  const queueState = async () =>
    (
      await t.ask<{ node: { queuePosition: number; waitingReason: string } }>(
        ours.viewer,
        `{ node(id: "${globalId('JobRun', id)}") { ... on JobRun { queuePosition waitingReason } } }`,
      )
    ).node
  expect(await queueState()).toEqual({ queuePosition: 1, waitingReason: 'No worker is running. Start one.' })
  const worker = { name: 'w', host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 1 }
  const workerId = await registerWorker(t.runtime, worker)
  expect((await queueState()).waitingReason).toBe('A worker is about to start the run.')
  await t.runtime.db.update(schema.workers).set({ running: 1 })
  expect((await queueState()).waitingReason).toMatch('All workers are busy')
  const drained = await t.ask(
    ours.installationAdmin,
    `mutation { drainWorker(input: { id: "${globalId('Worker', workerId)}" }) { ... on DrainWorkerPayload { worker { name drainedBy { name } undrainBlockedReason } } } }`,
  )
  expect(drained).toMatchObject({
    drainWorker: { worker: { name: 'w', drainedBy: { name: 'test owner' }, undrainBlockedReason: null } },
  })
  expect((await queueState()).waitingReason).toMatch('All workers are drained')
  await setMaxConcurrentRuns(ours.installationAdmin, { maxConcurrentRuns: 1 })
  const other = await runJob(ours.operator, { template: 'connectivity_check', limit: 'all' })
  await claimJobRun(ours.worker, { id: other.id, workerId: 'w' })
  expect((await queueState()).waitingReason).toBe(
    'The limit of 1 concurrent runs is reached. The run starts when another one ends.',
  )
  await pauseQueue(ours.admin, { reason: 'The cooling is off.' })
  expect((await queueState()).waitingReason).toMatch(/^The queue is paused by .*: The cooling is off\.$/)
  expect(
    await t.ask(ours.viewer, '{ queue { isPaused pauseReason pendingCount runningCount updateBlockedReason } }'),
  ).toMatchObject({
    queue: {
      isPaused: true,
      pauseReason: 'The cooling is off.',
      pendingCount: 1,
      runningCount: 1,
      updateBlockedReason: expect.stringContaining('admin'),
    },
  })
  await setRetention(ours.admin, { logDays: 30 })
  expect(await t.ask(ours.viewer, '{ retention { logDays artifactDays } }')).toEqual({
    retention: { logDays: 30, artifactDays: null },
  })
})
