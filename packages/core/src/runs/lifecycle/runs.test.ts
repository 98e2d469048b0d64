import { and, eq, sql } from 'drizzle-orm'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import { Conflict, Forbidden, InvalidInput, NotFound } from '../../kernel/errors.ts'
import { setNodeMaintenance } from '../../node-states/index.ts'
import { claimJobRun } from '../../run-queue/index.ts'
import { jobTemplates } from '../../templates/tables.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { appendJobRunEvents, ClaimLost } from '../events/append-job-run-events.ts'
import { cancelBlockedReason } from '../policy.ts'
import { jobRunEvents, jobRunHosts, jobRuns } from '../tables.ts'
import { cancelJobRun } from './cancel-job-run.ts'
import { endLostJobRuns } from './end-lost-job-runs.ts'
import { finishJobRun } from './finish-job-run.ts'
import { type HostState, renewClaim } from './renew-claim.ts'
import { runJob } from './run-job.ts'

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  theirs = await t.given.tenant()
  const { id } = await t.given.credential(ours.admin, 'SSH_KEY')
  await t.given.fleet(ours.admin, { nodes: 6, with: { credentialId: id } })
})
afterAll(() => t.close())

const start = (input: object = {}) => runJob(ours.operator, { template: 'connectivity_check', limit: 'gpu[001-002]', ...input })
const claim = async (id: string, workerId = 'w1') => (await claimJobRun(ours.worker, { id, workerId }))!
const rowOf = async (id: string) => (await t.runtime.db.select().from(jobRuns).where(eq(jobRuns.id, id)))[0]!
const hostsOf = (id: string) =>
  t.runtime.db.select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, id)).orderBy(jobRunHosts.name)
const eventsOf = (id: string) =>
  t.runtime.db.select().from(jobRunEvents).where(eq(jobRunEvents.jobRunId, id)).orderBy(jobRunEvents.seq)
const untouched = (id: string, seconds: number) =>
  t.runtime.db.execute(sql`update job_runs set worker_seen_at = now() - make_interval(secs => ${seconds}) where id = ${id}`)
const wakeUps = async (id: string) =>
  (await t.runtime.db.execute(sql`select id from pgboss.job where name = 'job-run' and data->>'id' = ${id}`)).rows.length
const output = (text: string) => ({ kind: 'output', stdout: text, createdAt: new Date() })
const host = (name: string, state: Partial<HostState>): HostState => ({
  ...{ name, ok: 0, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
  ...{ result: 'PENDING', currentTask: null, currentTaskAt: null, message: null },
  ...state,
})

describe('runJob', () => {
  test('takes omitted settings from the template, triggers one worker, and is audited', async () => {
    const run = await start({ reason: 'after the move', extraVars: { a: 1 } })
    expect(run).toMatchObject({ status: 'PENDING', forks: 50, timeoutSeconds: 600, become: false, hostsTotal: 2, lastSeq: 0 })
    expect(run.createdByName).toBe(ours.operator.actor.name)
    expect((await hostsOf(run.id)).map((h) => [h.name, h.result])).toEqual([
      ['gpu001', 'PENDING'],
      ['gpu002', 'PENDING'],
    ])
    expect(await wakeUps(run.id)).toBe(1)
    const [entry] = await t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.objectId, run.id), eq(auditEntries.action, 'job_run.start')))
    expect(entry).toMatchObject({ actorName: ours.operator.actor.name, tenantId: ours.tenant.id })
    expect(t.changeEvents).toContainEqual({ topic: 'jobRun', id: run.id, tenantId: ours.tenant.id })
  })

  test('rejects viewers; another tenant sees neither nodes nor runs', async () => {
    await expect(runJob(ours.viewer, { template: 'connectivity_check', limit: 'all' })).rejects.toBeInstanceOf(Forbidden)
    const nodeId = (await hostsOf((await start()).id))[0]!.nodeId!
    await expect(runJob(theirs.owner, { template: 'connectivity_check', nodeIds: [nodeId] })).rejects.toBeInstanceOf(NotFound)
    await expect(runJob(theirs.owner, { template: 'connectivity_check', limit: 'gpu001' })).rejects.toBeInstanceOf(InvalidInput)
    await expect(runJob(ours.owner, { template: 'no such', limit: 'all' })).rejects.toBeInstanceOf(NotFound)
  })

  test('names unusable nodes with their reasons and starts nothing', async () => {
    const credentialId = (await t.given.credential(ours.admin, 'SSH_PASSWORD')).id
    const unfit = [
      { hostKey: null, credentialId },
      { hostKey: null, credentialId },
      { offeredHostKey: 'ssh-ed25519 AAAA', credentialId },
      { credentialId: null },
      { connectionType: 'local' as const, hostKey: null },
    ]
    const nodes = await t.given.fleet(ours.admin, { nodes: 5, prefix: 'odd', with: (i) => unfit[i]! })
    await setNodeMaintenance(ours.operator, { id: nodes[4]!.id, isOn: true })
    const rejected = runJob(ours.operator, { template: 'connectivity_check', nodeIds: nodes.map((node) => node.id) })
    const { issues } = (await rejected.catch((error) => error)) as InvalidInput
    expect(issues.map((issue) => issue.message)).toEqual([
      expect.stringMatching(/^odd\[001-002\]: no approved host key/),
      expect.stringMatching(/^odd003: the offered host key differs/),
      expect.stringMatching(/^odd004: no credential/),
      expect.stringMatching(/^odd005: in maintenance/),
    ])
    expect(issues.every((issue) => issue.path === 'nodeIds')).toBe(true)
    await setNodeMaintenance(ours.operator, { id: nodes[4]!.id, isOn: false })
    expect((await runJob(ours.operator, { template: 'connectivity_check', limit: 'odd005' })).hostsTotal).toBe(1)
  })

  test.each([
    [{ ansible_connection: 'local' }, 'extraVars.ansible_connection'],
    [{ Ansible_Host: 'x' }, 'extraVars.Ansible_Host'],
    [{ __ansible_x: 1 }, 'extraVars.__ansible_x'],
    [{ hostvars: {} }, 'extraVars.hostvars'],
    [{ marked: [{ __ansible_vault: 1 }] }, 'extraVars.marked'],
    [{ 'a b': 1 }, 'extraVars.a b'],
    [{ '1st': 1 }, 'extraVars.1st'],
    [{ '{{ x }}': 1 }, 'extraVars.{{ x }}'],
    [{ class: 1 }, 'extraVars.class'],
    [{ lookup: 1 }, 'extraVars.lookup'],
    [{ now: 'x' }, 'extraVars.now'],
    [{ nul: ['a\u0000b'] }, 'extraVars.nul'],
    [{ half: { '\ud800': 1 } }, 'extraVars.half'],
    [{ big: 'x'.repeat(256 * 1024) }, 'extraVars'],
  ])('extra vars %j are rejected', async (extraVars, path) => {
    const error = await start({ extraVars }).catch((e) => e)
    expect(error).toBeInstanceOf(InvalidInput)
    expect(error.issues[0].path).toBe(path)
  })

  test('accepts any keys inside values', async () => {
    const extraVars = { env: { ansible_host: '{{ x }}', 'a b': [1, null] } }
    expect((await start({ extraVars })).extraVars).toEqual(extraVars)
  })

  test('the same key returns the same run, also concurrently and after the nodes were deleted', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => start({ idempotencyKey: 'k', limit: 'gpu006' })))
    expect(new Set(runs.map((run) => run.id)).size).toBe(1)
    expect(await wakeUps(runs[0]!.id)).toBe(1)
    const nodeId = (await hostsOf(runs[0]!.id))[0]!.nodeId!
    await setNodeMaintenance(ours.operator, { id: nodeId, isOn: true })
    expect((await start({ idempotencyKey: 'k', limit: 'gpu006' })).id).toBe(runs[0]!.id)
    await setNodeMaintenance(ours.operator, { id: nodeId, isOn: false })
  })

  test('rejects the same key with other input', async () => {
    const { id } = await start({ idempotencyKey: 'one thing', limit: 'gpu[001-002]' })
    const nodeIds = (await hostsOf(id)).map((h) => h.nodeId!)
    const [byId, other] = [{ idempotencyKey: 'by id', limit: undefined, nodeIds }, await start({ limit: 'gpu003' })]
    const first = await start(byId)
    expect((await start({ ...byId, nodeIds: nodeIds.toReversed() })).id).toBe(first.id)
    const third = (await hostsOf(other.id))[0]!.nodeId!
    for (const input of [
      { idempotencyKey: 'one thing', limit: 'gpu001' },
      { idempotencyKey: 'one thing', limit: undefined, nodeIds },
      { idempotencyKey: 'one thing', template: 'collect_facts' },
      { idempotencyKey: 'by id' },
      { ...byId, nodeIds: nodeIds.slice(1) },
      { ...byId, nodeIds: [nodeIds[0]!, third] },
    ])
      await expect(start(input)).rejects.toThrow(Conflict)
  })
})

describe('cancelJobRun', () => {
  test('ends an unclaimed run, which can no longer be claimed', async () => {
    const { id } = await start()
    const run = await cancelJobRun(ours.operator, { id })
    expect(run).toMatchObject({
      status: 'CANCELED',
      endCause: 'cancel',
      cancelRequestedById: ours.operator.actor.id,
      cancelRequestedByName: ours.operator.actor.name,
      lastSeq: 1,
      lastLine: 1,
      error: `Canceled by ${ours.operator.actor.name} before it began.`,
    })
    expect((await hostsOf(id)).map((h) => h.result)).toEqual(['NOT_RUN', 'NOT_RUN'])
    expect(await eventsOf(id)).toMatchObject([{ seq: 1, kind: 'run_end', startLine: 1, lineCount: 1 }])
    expect(await claimJobRun(ours.worker, { id, workerId: 'w1' })).toBeNull()
    await expect(cancelJobRun(ours.operator, { id })).rejects.toBeInstanceOf(Conflict)
    expect(cancelBlockedReason(ours.operator.actor, run)).toContain('CANCELED')
  })

  test('requests cancellation of a running run once', async () => {
    const { id } = await start()
    await claim(id)
    const asked = await cancelJobRun(ours.operator, { id })
    expect(asked).toMatchObject({ status: 'CANCELING', finishedAt: null })
    expect(t.changeEvents).toContainEqual({ topic: 'cancel', id, tenantId: ours.tenant.id })
    const repeated = await cancelJobRun(ours.admin, { id })
    expect(repeated.cancelRequestedByName).toBe(ours.operator.actor.name)
  })

  test('rejects viewers and other tenants', async () => {
    const { id } = await start()
    await expect(cancelJobRun(ours.viewer, { id })).rejects.toBeInstanceOf(Forbidden)
    await expect(cancelJobRun(theirs.owner, { id })).rejects.toBeInstanceOf(NotFound)
    expect(cancelBlockedReason(ours.viewer.actor, await rowOf(id))).toContain('operator')
    expect(cancelBlockedReason(ours.operator.actor, await rowOf(id))).toBeNull()
  })

  test('of a concurrent claim and cancel, exactly one wins', async () => {
    for (let i = 0; i < 10; i++) {
      const { id } = await start()
      const [claimed, canceled] = await Promise.all([
        claimJobRun(ours.worker, { id, workerId: 'w1' }),
        cancelJobRun(ours.operator, { id }),
      ])
      expect(canceled.status).toBe(claimed ? 'CANCELING' : 'CANCELED')
    }
  })
})

describe('worker operations', () => {
  test('only one of several workers claims the run', async () => {
    const { id } = await start()
    const claims = await Promise.all(['a', 'b', 'c', 'd'].map((workerId) => claimJobRun(ours.worker, { id, workerId })))
    const [won] = claims.filter((c) => c !== null)
    expect(claims.filter((c) => c !== null)).toHaveLength(1)
    expect(won!.hosts.map((h) => h.name)).toEqual(['gpu001', 'gpu002'])
    expect(await rowOf(id)).toMatchObject({ status: 'RUNNING', claimToken: won!.token })
  })

  test('numbers events and lines without gaps, for any characters', async () => {
    const { id } = await start()
    const { token } = await claim(id)
    const odd = {
      kind: 'ok',
      host: 'gpu001',
      result: { '\u0000': 'a\ud800b\\u0000' },
      stdout: 'x\u0000y\n\nz',
      createdAt: new Date(),
    }
    expect(
      await appendJobRunEvents(ours.worker, { id, token, events: [output('a\nb'), { ...output('x'), stdout: null }, odd] }),
    ).toBe(3)
    expect(await appendJobRunEvents(ours.worker, { id, token, events: [output('')] })).toBe(4)
    const events = await eventsOf(id)
    expect(events.map((e) => [e.seq, e.startLine, e.lineCount])).toEqual([
      [1, 1, 2],
      [2, 3, 0],
      [3, 3, 3],
      [4, 6, 1],
    ])
    expect(events[2]).toMatchObject({ stdout: 'x\ufffdy\n\nz', result: { '\ufffd': 'a\ufffdb\\u0000' } })
    expect(await rowOf(id)).toMatchObject({ lastSeq: 4, lastLine: 6 })
  })

  test('a repeated append after a lost answer stores nothing twice', async () => {
    const { id } = await start()
    const { token } = await claim(id)
    const append = () => appendJobRunEvents(ours.worker, { id, token, after: 0, events: [output('a'), output('b')] })
    expect([await append(), await append()]).toEqual([2, 2])
    expect(await eventsOf(id)).toHaveLength(2)
  })

  test('a late renewal does not overwrite final host results', async () => {
    const { id } = await start()
    const { token } = await claim(id)
    const gate = new pg.Client({ connectionString: t.url })
    await gate.connect()
    // The first statement that writes hosts waits here, before it locks any row.
    await gate.query(`
      select pg_advisory_lock(42);
      create sequence host_writes;
      grant usage on sequence host_writes to public;
      create function wait_once() returns trigger language plpgsql as $$ begin
        if nextval('host_writes') = 1 then perform pg_advisory_xact_lock(42); end if; return null; end $$;
      create trigger wait_once before update on job_run_hosts execute function wait_once()`)
    const waiting = async () =>
      (await gate.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).rows
        .length
    let isEnded = false
    try {
      const touched = renewClaim(ours.worker, { id, token, hosts: [host('gpu001', { result: 'RUNNING' })] })
      await expect.poll(waiting).toBe(1)
      const ended = finishJobRun(ours.worker, {
        id,
        token,
        hosts: [host('gpu001', { ok: 1, result: 'OK' })],
        endCause: 'exit',
        exitCode: 0,
      })
      void ended.then(() => (isEnded = true))
      await expect.poll(async () => isEnded || (await waiting()) === 2).toBe(true)
      await gate.query('select pg_advisory_unlock(42)')
      await Promise.all([touched, ended])
    } finally {
      await gate.query('select pg_advisory_unlock_all(); drop function wait_once cascade; drop sequence host_writes')
      await gate.end()
    }
    expect((await hostsOf(id)).map(({ result }) => result)).toEqual(['OK', 'NOT_RUN'])
  })

  test('rejects writes without the claim token', async () => {
    const { id } = await start()
    await claim(id)
    const token = crypto.randomUUID()
    const writes = [
      appendJobRunEvents(ours.worker, { id, token, events: [output('a')] }),
      renewClaim(ours.worker, { id, token, hosts: [host('gpu001', { result: 'OK' })] }),
      finishJobRun(ours.worker, { id, token, hosts: [], endCause: 'exit', exitCode: 0 }),
    ]
    for (const result of await Promise.allSettled(writes)) expect(result).toMatchObject({ reason: expect.any(ClaimLost) })
    expect(await rowOf(id)).toMatchObject({ status: 'RUNNING', lastSeq: 0 })
    expect((await hostsOf(id))[0]!.result).toBe('PENDING')
  })

  test.each([
    ['SUCCEEDED', 0, 'OK', 'CHANGED'],
    ['SUCCEEDED', 0, 'SKIPPED', 'OK'],
    ['PARTIAL', 2, 'OK', 'FAILED'],
    ['PARTIAL', 4, 'UNREACHABLE', 'CHANGED'],
    ['FAILED', 2, 'FAILED', 'UNREACHABLE'],
    ['FAILED', 1, 'OK', 'FAILED'],
    ['FAILED', 137, 'OK', 'UNREACHABLE'],
    ['FAILED', 250, 'OK', 'CHANGED'],
    ['PARTIAL', 0, 'OK', 'UNREACHABLE'],
    ['ERROR', 4, 'PENDING', 'PENDING'],
  ] as const)('%s: exit code %i with hosts %s and %s', async (status, exitCode, first, second) => {
    const { id } = await start()
    const { token } = await claim(id)
    const hosts = [host('gpu001', { result: first }), host('gpu002', { result: second })]
    const run = await finishJobRun(ours.worker, { id, token, hosts, endCause: 'exit', exitCode })
    expect(run.status).toBe(status)
    await expect(finishJobRun(ours.worker, { id, token, hosts, endCause: 'exit', exitCode })).rejects.toBeInstanceOf(ClaimLost)
    expect((await eventsOf(id)).map((e) => e.kind)).toEqual(['run_end'])
  })

  test('names hosts that were inside a task', async () => {
    const { id } = await start()
    const { token } = await claim(id)
    await renewClaim(ours.worker, { id, token, hosts: [host('gpu002', { result: 'RUNNING', currentTask: 'Install' })] })
    const run = await finishJobRun(ours.worker, { id, token, hosts: [], endCause: 'cancel', lastLine: 'Canceled.' })
    expect(run).toMatchObject({ status: 'CANCELED', interruptedHosts: ['gpu002'], hostsFailed: 0 })
    expect(await hostsOf(id)).toMatchObject([{ result: 'NOT_RUN' }, { result: 'INTERRUPTED', currentTask: 'Install' }])
  })

  test('a host inside a task has failed when ansible-playbook exits early', async () => {
    const { id } = await start()
    const { token } = await claim(id)
    const hosts = [host('gpu002', { result: 'RUNNING', currentTask: 'Install' })]
    const run = await finishJobRun(ours.worker, { id, token, hosts, endCause: 'exit', exitCode: 137 })
    expect(run).toMatchObject({ status: 'FAILED', interruptedHosts: ['gpu002'], hostsFailed: 1 })
    expect((await hostsOf(id))[1]).toMatchObject({ result: 'FAILED', currentTask: 'Install' })
  })

  test.each([
    ['timeout', { ok: 3 }],
    ['exit', { ok: 3, changed: 1 }],
    ['cancel', { skipped: 1 }],
  ] as const)('hosts between two tasks count neither as done nor as failed: %s', async (endCause, figures) => {
    const { id } = await start()
    const { token } = await claim(id)
    const hosts = [host('gpu001', { result: 'RUNNING', ...figures }), host('gpu002', { result: 'OK', ok: 5 })]
    const run = await finishJobRun(ours.worker, { id, token, hosts, endCause })
    expect(run).toMatchObject({ interruptedHosts: [], hostsOk: 1, hostsFailed: 0 })
    expect(await hostsOf(id)).toMatchObject([
      { result: 'INTERRUPTED', ...figures, message: expect.stringContaining('before the result of this host was known') },
      { result: 'OK', message: null },
    ])
  })

  test('only the claiming worker can repeat a claim', async () => {
    const { id } = await start()
    const token = crypto.randomUUID()
    const claim = { id, workerId: 'w1', token }
    expect(await claimJobRun(ours.worker, claim)).toMatchObject({ token, run: { status: 'RUNNING' } })
    expect((await claimJobRun(ours.worker, claim))!.hosts).toHaveLength(2)
    await cancelJobRun(ours.operator, { id })
    expect(await claimJobRun(ours.worker, claim)).toMatchObject({ run: { status: 'CANCELING' } })
    expect(await claimJobRun(ours.worker, { id, workerId: 'w1' })).toBeNull()
  })
})

describe('endLostJobRuns', () => {
  // The reconciler would end unfinished runs of other tests once they are old enough.
  beforeEach(() => t.runtime.db.execute(sql`update job_runs set finished_at = now() where finished_at is null`))

  const notIdempotent = async () => {
    await t.runtime.db.update(jobTemplates).set({ isIdempotent: false }).where(eq(jobTemplates.tenantId, ours.tenant.id))
    const run = await start()
    await t.runtime.db.update(jobTemplates).set({ isIdempotent: true }).where(eq(jobTemplates.tenantId, ours.tenant.id))
    return run
  }

  test('ends a run without a sign of life for 30 s, once, and no other run', async () => {
    const [lost, alive] = [await notIdempotent(), await notIdempotent()]
    const { token } = await claim(lost.id)
    await claim(alive.id)
    await appendJobRunEvents(ours.worker, { id: lost.id, token, events: [output('a')] })
    await untouched(lost.id, 31)
    await untouched(alive.id, 15)
    const counts = await Promise.all(Array.from({ length: 4 }, () => endLostJobRuns(t.runtime)))
    expect(counts.map((c) => c.ended).sort()).toEqual([0, 0, 0, 1])
    expect(await rowOf(lost.id)).toMatchObject({ status: 'ERROR', endCause: 'lost', lastSeq: 2 })
    expect((await eventsOf(lost.id)).map((e) => e.kind)).toEqual(['output', 'run_end'])
    expect(await rowOf(alive.id)).toMatchObject({ status: 'RUNNING' })
    await expect(appendJobRunEvents(ours.worker, { id: lost.id, token, events: [output('b')] })).rejects.toBeInstanceOf(ClaimLost)
  })

  test('restarts an idempotent run once', async () => {
    const { id } = await start()
    const first = await claim(id)
    const so = host('gpu001', {
      result: 'RUNNING',
      ok: 3,
      changed: 2,
      failed: 1,
      skipped: 1,
      unreachable: 1,
      rescued: 1,
      ignored: 1,
    })
    await renewClaim(ours.worker, { id, token: first.token, hosts: [so] })
    await untouched(id, 31)
    expect(await endLostJobRuns(t.runtime)).toMatchObject({ ended: 0, retried: 1 })
    expect(await rowOf(id)).toMatchObject({ status: 'PENDING', lastSeq: 1, lastLine: 1 })
    expect((await hostsOf(id))[0]).toMatchObject(host('gpu001', {}))
    expect(await eventsOf(id)).toMatchObject([{ seq: 1, startLine: 1, kind: 'notice' }])
    expect(await wakeUps(id)).toBe(2)
    await expect(renewClaim(ours.worker, { id, token: first.token })).rejects.toBeInstanceOf(ClaimLost)
    await claim(id, 'w2')
    await untouched(id, 31)
    expect(await endLostJobRuns(t.runtime)).toMatchObject({ ended: 1, retried: 0 })
    expect(await rowOf(id)).toMatchObject({ status: 'ERROR' })
  })

  test('does not restart a run that is being canceled', async () => {
    const { id } = await start()
    await claim(id)
    await cancelJobRun(ours.operator, { id })
    await untouched(id, 31)
    expect(await endLostJobRuns(t.runtime)).toMatchObject({ ended: 1, retried: 0 })
  })

  test('enqueues a run again after its wake-up was lost', async () => {
    const { id } = await start()
    await untouched(id, 301)
    expect(await endLostJobRuns(t.runtime)).toMatchObject({ ended: 0, reminded: 1 })
    expect(await wakeUps(id)).toBe(2)
    expect(await endLostJobRuns(t.runtime)).toMatchObject({ reminded: 0 })
  })

  test('enqueues it immediately when a worker was lost or the database was unavailable', async () => {
    const [lost, { id }] = [await notIdempotent(), await start()]
    await claim(lost.id)
    await endLostJobRuns(t.runtime)
    expect(await wakeUps(id)).toBe(1)
    await untouched(lost.id, 31)
    await endLostJobRuns(t.runtime)
    expect(await wakeUps(id)).toBe(2)
    await endLostJobRuns(t.runtime, { wasDatabaseUnavailable: true })
    expect(await wakeUps(id)).toBe(3)
  })
})
