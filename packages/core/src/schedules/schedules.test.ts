import { and, desc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createApiToken,
  findMemberships,
  members,
  removeMember,
  revokeApiToken,
  suspendTenant,
  tenants,
} from '../access/index.ts'
import { alerts } from '../alerts/index.ts'
import { auditEntries } from '../audit/index.ts'
import { discoveries } from '../discoveries/tables.ts'
import { createGrant } from '../grants/index.ts'
import { createNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { tenantCtx } from '../kernel/context.ts'
import { computeNodes } from '../nodes/index.ts'
import type { Ctx } from '../registry.ts'
import { jobRuns } from '../runs/tables.ts'
import { jobTemplates } from '../templates/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { checkSchedules } from './check-schedules.ts'
import { createSchedule } from './create-schedule.ts'
import { deleteSchedule } from './delete-schedule.ts'
import { disableSchedule } from './disable-schedule.ts'
import { enableSchedule } from './enable-schedule.ts'
import { fireDueSchedules } from './fire-due-schedules.ts'
import { previewSchedule } from './preview-schedule.ts'
import { pruneScheduleFirings } from './prune-schedule-firings.ts'
import { runSchedule } from './run-schedule.ts'
import { type Schedule, scheduleFirings, schedules } from './tables.ts'
import { upcomingTimes } from './times.ts'
import { updateSchedule } from './update-schedule.ts'

let t: TestRuntime
let ours: TenantFixture
/** Credential of the nodes. */
let login: string
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
beforeEach(async () => {
  await t.runtime.db.delete(schedules)
  ours = await t.given.tenant()
  login = (await t.given.credential(ours.admin, 'SSH_KEY')).id
  await t.given.fleet(ours.admin, { nodes: 3, with: { credentialId: login } })
})

let count = 0
const create = (fields: Partial<Parameters<typeof createSchedule>[1]> = {}, ctx: Ctx = ours.operator) =>
  createSchedule(ctx, {
    name: `schedule ${++count}`,
    target: 'run',
    template: 'connectivity_check',
    limit: 'gpu[001-002]',
    rule: '0 3 * * *',
    ...fields,
  })
const discovery = { target: 'discovery', template: null, limit: 'all' } as const
const rowOf = async ({ id }: { id: string }): Promise<Schedule> =>
  (await t.runtime.db.select().from(schedules).where(eq(schedules.id, id)))[0]!
const firingsOf = ({ id }: { id: string }) =>
  t.runtime.db.select().from(scheduleFirings).where(eq(scheduleFirings.scheduleId, id)).orderBy(desc(scheduleFirings.dueAt))
const runsOf = () => t.runtime.db.select().from(jobRuns).where(eq(jobRuns.tenantId, ours.tenant.id)).orderBy(jobRuns.id)
const minutes = (at: Date, count: number) => new Date(at.getTime() + count * 60_000)
const fire = (now: Date) => fireDueSchedules(t.runtime, now)
/** Fires the schedule once at its next time. @returns the firing */
async function fireNext(schedule: { id: string }) {
  await fire((await rowOf(schedule)).nextRunAt!)
  return (await firingsOf(schedule))[0]!
}
const finish = (status: 'ok' | 'failed') =>
  t.runtime.db
    .update(jobRuns)
    .set({
      startedAt: sql`now()`,
      finishedAt: sql`now()`,
      endCause: 'exit',
      exitCode: status === 'ok' ? 0 : 2,
      hostsOk: status === 'ok' ? 2 : 0,
      hostsFailed: status === 'ok' ? 0 : 2,
    })
    .where(eq(jobRuns.tenantId, ours.tenant.id))

describe('a due schedule of a template', () => {
  test('starts a run as its owner with its settings, and advances to the next time', async () => {
    const schedule = await create({ settings: { checkMode: true, forks: 7, extraVars: { a: 1 } }, timeZone: 'Europe/Berlin' })
    const { dueAt } = schedule
    expect(await fire(minutes(dueAt!, -1))).toBe(0)
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED', reason: null, message: null, dueAt, missedCount: 0 })
    const [run] = await runsOf()
    expect(run).toMatchObject({
      templateName: 'connectivity_check',
      limit: 'gpu[001-002]',
      checkMode: true,
      forks: 7,
      extraVars: { a: 1 },
      hostsTotal: 2,
      reason: `Schedule ${schedule.name}`,
      createdById: ours.operator.actor.id,
      createdByName: ours.operator.actor.name,
    })
    const [firing] = await firingsOf(schedule)
    expect(firing!.jobRunId).toBe(run!.id)
    const after = await rowOf(schedule)
    expect(after.dueAt!.getTime() - dueAt!.getTime()).toBeGreaterThan(22 * 3_600_000)
    expect(after.updatedAt).toEqual(schedule.updatedAt)
    const [entry] = await t.runtime.db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.action, 'schedule.fire'), eq(auditEntries.objectId, schedule.id)))
    expect(entry).toMatchObject({ actorKind: 'system', runId: run!.id, details: { outcome: 'STARTED' } })
    expect(t.changeEvents).toContainEqual({ topic: 'schedule', id: schedule.id, tenantId: ours.tenant.id })
  })

  test('is fired once by several workers', async () => {
    const schedule = await create()
    const counts = await Promise.all(Array.from({ length: 8 }, () => fire(schedule.nextRunAt!)))
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(1)
    expect(await runsOf()).toHaveLength(1)
    expect(await firingsOf(schedule)).toHaveLength(1)
  })

  test('is fired once when a worker is killed while it starts the run', async () => {
    const schedule = await create()
    const { db } = t.runtime
    await db.transaction(async (tx) => {
      await tx.select().from(computeNodes).where(eq(computeNodes.tenantId, ours.tenant.id)).for('update')
      const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      const killed = fire(schedule.nextRunAt!)
      // The worker waits for the nodes. Its death ends its connection.
      const waiting = `from pg_stat_activity where ${rows[0]!.pid} = any(pg_blocking_pids(pid))`
      await expect.poll(async () => (await db.execute(sql.raw(`select pid ${waiting}`))).rowCount).toBe(1)
      await t.asOwner(`select pg_terminate_backend(pid) ${waiting}`)
      expect(await killed.catch(() => 0)).toBe(0)
    })
    expect([await firingsOf(schedule), await runsOf()]).toEqual([[], []])
    expect(await rowOf(schedule)).toEqual(schedule)
    expect(await fire(schedule.nextRunAt!)).toBe(1)
    expect(await fire(schedule.nextRunAt!)).toBe(0)
    expect([await firingsOf(schedule), await runsOf()]).toMatchObject([[{ outcome: 'STARTED' }], [{ status: 'PENDING' }]])
  })

  test('is not fired again for a time that is due again after a change', async () => {
    const schedule = await create()
    await fireNext(schedule)
    await finish('ok')
    await updateSchedule(ours.operator, { id: schedule.id, rule: '00 3 * * *' })
    expect((await rowOf(schedule)).dueAt).toEqual(schedule.dueAt)
    expect(await fire(schedule.nextRunAt!)).toBe(0)
    expect(await runsOf()).toHaveLength(1)
    expect((await rowOf(schedule)).dueAt).not.toEqual(schedule.dueAt)
  })

  test('keeps a pending time when its times are unchanged, and records it otherwise', async () => {
    const timing = { rule: '0 * * * *', timeZone: 'UTC', jitterSeconds: 600, startsAt: null, endsAt: null, blackouts: [] }
    const schedule = await create(timing)
    const pending = { dueAt: minutes(new Date(), -5), nextRunAt: minutes(new Date(), 5) }
    await t.runtime.db.update(schedules).set(pending).where(eq(schedules.id, schedule.id))
    await updateSchedule(ours.operator, { id: schedule.id, description: 'new', ...timing })
    expect(await rowOf(schedule)).toMatchObject(pending)
    await updateSchedule(ours.operator, { id: schedule.id, jitterSeconds: 0 })
    expect((await rowOf(schedule)).dueAt!.getTime()).toBeGreaterThan(Date.now())
    expect(await firingsOf(schedule)).toMatchObject([
      { outcome: 'SKIPPED', reason: 'missed', dueAt: pending.dueAt, message: expect.stringContaining('changed') },
    ])
    // A schedule that is over can be renamed.
    const over = { endsAt: minutes(new Date(), -60), dueAt: null, nextRunAt: null }
    await t.runtime.db.update(schedules).set(over).where(eq(schedules.id, schedule.id))
    await updateSchedule(ours.operator, { id: schedule.id, description: 'over' })
    expect(await rowOf(schedule)).toMatchObject({ description: 'over', dueAt: null })
  })

  test('takes the nodes that match when it fires', async () => {
    const schedule = await create({ limit: 'new*,gpu001' })
    await t.given.fleet(ours.admin, { nodes: 2, prefix: 'new', with: { credentialId: login } })
    await fireNext(schedule)
    expect((await runsOf())[0]).toMatchObject({ hostsTotal: 3 })
  })

  test('leaves out nodes that block it as long as others remain, and names them', async () => {
    const schedule = await create({ overlap: 'allow' })
    const maintain = (name: string) =>
      t.runtime.db
        .update(computeNodes)
        .set({ maintenanceAt: new Date(), maintenanceReason: 'repair' })
        .where(and(eq(computeNodes.tenantId, ours.tenant.id), eq(computeNodes.name, name)))
    await maintain('gpu002')
    expect(await fireNext(schedule)).toMatchObject({
      outcome: 'STARTED',
      message: expect.stringMatching(/gpu002: in maintenance/),
    })
    expect(await runsOf()).toMatchObject([{ hostsTotal: 1, limit: 'gpu[001-002]' }])
    await maintain('gpu001')
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'FAILED', message: expect.stringMatching(/in maintenance/) })
    expect(await runsOf()).toHaveLength(1)
  })

  test('is not fired after it was disabled, deleted or changed', async () => {
    const [off, gone, moved] = [await create(), await create(), await create()]
    const at = off.nextRunAt!
    await disableSchedule(ours.operator, { id: off.id })
    await deleteSchedule(ours.operator, { id: gone.id })
    await updateSchedule(ours.operator, { id: moved.id, rule: '0 4 * * *' })
    expect(await fire(at)).toBe(0)
    expect((await rowOf(off)).nextRunAt).toBeNull()
    expect((await enableSchedule(ours.operator, { id: off.id })).nextRunAt).not.toBeNull()
  })

  test('ends after its end', async () => {
    const { dueAt } = await create()
    const schedule = await create({ endsAt: minutes(dueAt!, 1) })
    await fireNext(schedule)
    expect(await rowOf(schedule)).toMatchObject({ isEnabled: true, dueAt: null, nextRunAt: null })
  })

  test('records why the run could not start, once', async () => {
    const schedule = await create({ limit: 'gpu001' })
    await t.runtime.db.update(computeNodes).set({ decommissionedAt: new Date() }).where(eq(computeNodes.tenantId, ours.tenant.id))
    expect(await fireNext(schedule)).toMatchObject({
      outcome: 'FAILED',
      reason: 'error',
      message: expect.stringMatching(/gpu001.*decommissioned/s),
      jobRunId: null,
    })
    expect(await runsOf()).toEqual([])
    expect(await fire(schedule.nextRunAt!)).toBe(0)
  })
})

describe('the owner', () => {
  const expectRefused = async (schedule: Schedule, message: RegExp) => {
    expect(await fireNext(schedule)).toMatchObject({
      outcome: 'FAILED',
      reason: 'refused',
      message: expect.stringMatching(message),
    })
    expect(await runsOf()).toEqual([])
  }
  const memberOf = async ({ actor }: Ctx) =>
    (await t.runtime.db.query.members.findFirst({ where: { tenantId: ours.tenant.id, userId: actor.id! } }))!

  test('who was removed is refused', async () => {
    const schedule = await create()
    await removeMember(ours.owner, { id: (await memberOf(ours.operator)).id })
    await expectRefused(schedule, /is not an active member of the tenant any more.*Save the schedule/)
  })

  test('who lost the permission is refused', async () => {
    const schedule = await create()
    await t.runtime.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, ours.operator.actor.id!))
    await expectRefused(schedule, /needs the permission job_run:start/)
  })

  test('whose grant does not cover the nodes any more is refused', async () => {
    const group = await createNodeGroup(ours.admin, { name: 'mine' })
    const [a, b] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.tenantId, ours.tenant.id))
    await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: [a!.id, b!.id] })
    await createGrant(ours.admin, { memberId: (await memberOf(ours.viewer)).id, role: 'operator', nodeGroupId: group.id })
    const { authority } = (await findMemberships(t.runtime.db, ours.viewer.actor.id!))[0]!
    const granted = tenantCtx(t.runtime, ours.tenant.id, { kind: 'user', id: ours.viewer.actor.id!, name: 'Vera', ...authority })
    await expect(create({ limit: 'all' }, granted)).rejects.toThrow(/cover only the nodes of mine, not gpu003/)
    const schedule = await create({ limit: '@mine' }, granted)
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
    await finish('ok')
    await t.runtime.db.delete(jobRuns)
    await disableSchedule(granted, { id: schedule.id })
    const second = await create({ limit: 'gpu[001-002]' }, granted)
    await setNodeGroupMembers(ours.admin, { id: group.id, removeNodeIds: [b!.id] })
    await expectRefused(second, /cover only the nodes of mine, not gpu002/)
    // A grant gives nothing on the schedules of others.
    const other = await create()
    await expect(disableSchedule(granted, { id: other.id })).rejects.toThrow('belongs to somebody else')
    await expect(updateSchedule(granted, { id: other.id, limit: 'gpu001' })).rejects.toThrow('belongs to somebody else')
    await expect(deleteSchedule(granted, { id: other.id })).rejects.toThrow('belongs to somebody else')
  })

  test('is the token that created it, never the user of the token', async () => {
    const { apiToken: token } = await createApiToken(ours.admin, { name: `token ${++count}`, role: 'operator' })
    const { authority } = (await findMemberships(t.runtime.db, ours.admin.actor.id!))[0]!
    const asToken = tenantCtx(t.runtime, ours.tenant.id, {
      kind: 'token',
      id: token.id,
      name: token.name,
      userId: ours.admin.actor.id,
      ...authority,
    })
    const schedule = await create({}, asToken)
    expect(schedule).toMatchObject({ isOwnedByToken: true, ownerTokenId: token.id, ownerName: token.name })
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
    await finish('ok')
    await t.runtime.db.delete(jobRuns)
    await revokeApiToken(ours.admin, { id: token.id })
    await expectRefused(schedule, /API token .* is revoked/)
  })

  test('becomes the one who changes or enables it', async () => {
    const schedule = await create({}, ours.admin)
    expect(await updateSchedule(ours.operator, { id: schedule.id, limit: 'gpu003' })).toMatchObject({
      ownerId: ours.operator.actor.id,
      createdById: ours.admin.actor.id,
    })
    await disableSchedule(ours.admin, { id: schedule.id })
    expect(await enableSchedule(ours.owner, { id: schedule.id })).toMatchObject({ ownerId: ours.owner.actor.id })
  })
})

describe('a start by a user', () => {
  test('has the permissions of the user, and leaves the next time unchanged', async () => {
    const schedule = await create({ isEnabled: false, blackouts: [{ name: 'always', rule: '* * * * *', durationMinutes: 60 }] })
    const firing = await runSchedule(ours.admin, { id: schedule.id, idempotencyKey: 'once' })
    const [run] = await runsOf()
    expect(firing).toMatchObject({ outcome: 'STARTED', jobRunId: run!.id, requestedByName: ours.admin.actor.name })
    expect(run).toMatchObject({ createdById: ours.admin.actor.id, limit: 'gpu[001-002]' })
    expect((await runSchedule(ours.admin, { id: schedule.id, idempotencyKey: 'once' })).id).toBe(firing.id)
    expect(await rowOf(schedule)).toEqual(schedule)
    expect(await runsOf()).toHaveLength(1)
  })

  test('obeys the overlap policy', async () => {
    const schedule = await create()
    await runSchedule(ours.operator, { id: schedule.id })
    await expect(runSchedule(ours.operator, { id: schedule.id })).rejects.toThrow(
      /run #\d+ of an earlier time has not ended. Cancel it/,
    )
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'SKIPPED', reason: 'overlap' })
    await updateSchedule(ours.operator, { id: schedule.id, overlap: 'cancel_previous' })
    await runSchedule(ours.operator, { id: schedule.id })
    expect(await runsOf()).toMatchObject([{ status: 'CANCELED' }, { status: 'PENDING' }])
  })

  test('finds no schedule of another tenant', async () => {
    const schedule = await create()
    const others = await t.given.tenant()
    await expect(runSchedule(others.owner, { id: schedule.id })).rejects.toThrow(/There is no schedule/)
  })
})

describe('overlap', () => {
  test('skips a time while the previous run has not ended', async () => {
    const schedule = await create()
    await fireNext(schedule)
    const [run] = await runsOf()
    expect(await fireNext(schedule)).toMatchObject({
      outcome: 'SKIPPED',
      reason: 'overlap',
      message: `The run #${run!.number} of an earlier time has not ended.`,
    })
    await finish('ok')
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
  })

  test('ALLOW starts another run, which waits for the nodes as any run', async () => {
    const schedule = await create({ overlap: 'allow' })
    await fireNext(schedule)
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
    expect(await runsOf()).toHaveLength(2)
  })

  test('CANCEL_PREVIOUS cancels the previous run first', async () => {
    const schedule = await create({ overlap: 'cancel_previous' })
    await fireNext(schedule)
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
    expect((await runsOf()).map(({ status }) => status)).toEqual(['CANCELED', 'PENDING'])
    await expect(create({ ...discovery, overlap: 'cancel_previous' })).rejects.toMatchObject({ issues: [{ path: 'overlap' }] })
  })
})

describe('missed times', () => {
  test('are skipped by default, with their number', async () => {
    const schedule = await create()
    await fire(minutes(schedule.nextRunAt!, 2 * 24 * 60 + 5))
    expect(await firingsOf(schedule)).toMatchObject([
      { outcome: 'SKIPPED', reason: 'missed', missedCount: 2, dueAt: schedule.dueAt },
    ])
    expect((await rowOf(schedule)).dueAt).toEqual(minutes(schedule.dueAt!, 3 * 24 * 60))
    expect(await runsOf()).toEqual([])
  })

  test('RUN_ONCE starts one run for all of them', async () => {
    const schedule = await create({ catchUp: 'run_once' })
    const late = minutes(schedule.nextRunAt!, 2 * 24 * 60 + 5)
    await fire(late)
    expect(await fire(late)).toBe(0)
    expect(await firingsOf(schedule)).toMatchObject([{ outcome: 'STARTED', missedCount: 2 }])
    expect(await runsOf()).toHaveLength(1)
  })

  test('a time with jitter that is still ahead is not a miss', async () => {
    const { id, dueAt } = await create({ rule: '0 * * * *', jitterSeconds: 3540 })
    // The jitter of a due time is fixed, so that a pair is found in which the second time is not at once.
    const times = upcomingTimes(await rowOf({ id }), minutes(dueAt!, -1), 200)
    const i = times.findIndex((time, at) => at > 0 && time.runAt > minutes(time.dueAt, 20))
    const [missed, ahead] = [times[i - 1]!, times[i]!]
    await t.runtime.db.update(schedules).set({ dueAt: missed.dueAt, nextRunAt: missed.runAt }).where(eq(schedules.id, id))
    await fire(minutes(ahead.runAt, -1))
    expect(await firingsOf({ id })).toMatchObject([{ reason: 'missed', missedCount: 0, dueAt: missed.dueAt }])
    expect(await rowOf({ id })).toMatchObject({ dueAt: ahead.dueAt, nextRunAt: ahead.runAt })
  })

  test('a delay of less than two minutes is not a miss', async () => {
    const schedule = await create()
    await fire(minutes(schedule.nextRunAt!, 1.9))
    expect(await firingsOf(schedule)).toMatchObject([{ outcome: 'STARTED', missedCount: 0 }])
  })

  test('wait while the tenant is suspended', async () => {
    const schedule = await create()
    await suspendTenant({ ...ours.installationAdmin, tenantId: (await t.given.tenant()).tenant.id }, { id: ours.tenant.id })
    expect(await fire(schedule.nextRunAt!)).toBe(0)
    await t.runtime.db.update(tenants).set({ suspendedAt: null }).where(eq(tenants.id, ours.tenant.id))
    expect(await fire(schedule.nextRunAt!)).toBe(1)
  })
})

test('a schedule whose next time cannot be found ends with a failure', async () => {
  const schedule = await create()
  await t.runtime.db.update(schedules).set({ rule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' }).where(eq(schedules.id, schedule.id))
  expect(await fireNext(schedule)).toMatchObject({
    outcome: 'FAILED',
    reason: 'error',
    message: expect.stringContaining('the rule matches too rarely'),
  })
  expect(await rowOf(schedule)).toMatchObject({ dueAt: null, isEnabled: true })
  expect(await checkSchedules(t.runtime)).toBe(1)
})

test('a blackout skips a time and names itself', async () => {
  const { dueAt } = await create()
  const window = { startsAt: minutes(dueAt!, -10).toISOString(), endsAt: minutes(dueAt!, 10).toISOString() }
  const schedule = await create({ blackouts: [{ name: 'migration', ...window }] })
  expect(await fireNext(schedule)).toMatchObject({
    outcome: 'SKIPPED',
    reason: 'blackout',
    message: expect.stringContaining('migration'),
  })
  expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
})

describe('a due schedule of a discovery', () => {
  test('discovers the nodes that allow connections, and names the others', async () => {
    await t.given.fleet(ours.admin, { nodes: 1, prefix: 'off', with: { hostKey: null } })
    const schedule = await create(discovery)
    const firing = await fireNext(schedule)
    expect(firing).toMatchObject({ outcome: 'STARTED', jobRunId: null, message: expect.stringContaining('off001') })
    const rows = await t.runtime.db.select().from(discoveries).where(eq(discoveries.tenantId, ours.tenant.id))
    expect(rows.map(({ id }) => id).sort()).toEqual(firing.discoveryIds.toSorted())
    expect(rows.map(({ reason }) => reason)).toEqual(['schedule', 'schedule', 'schedule'])
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'SKIPPED', reason: 'overlap' })
    await t.runtime.db.update(discoveries).set({ startedAt: new Date(), finishedAt: new Date() })
    expect(await fireNext(schedule)).toMatchObject({ outcome: 'STARTED' })
  })

  test('takes no settings of runs', async () => {
    await expect(create({ ...discovery, template: 'connectivity_check', settings: { forks: 3 } })).rejects.toMatchObject({
      issues: [{ path: 'template' }, { path: 'settings' }],
    })
  })
})

describe('checks when it is saved', () => {
  test.each([
    [{ rule: '61 * * * *' }, 'rule'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ endsAt: new Date('2020-01-01') }, 'endsAt'],
    [{ template: null }, 'template'],
    [{ blackouts: [{ name: 'a', rule: '@daily' }] }, 'blackouts.0'],
    [{ blackouts: [{ name: 'a', rule: 'never', durationMinutes: 5 }] }, 'blackouts.0.rule'],
    [{ settings: { extraVars: { ansible_user: 'root' } } }, 'extraVars.ansible_user'],
    [{ jitterSeconds: -1 }, 'jitterSeconds'],
    [{ rule: '*/5 * * * *', jitterSeconds: 300 }, 'jitterSeconds'],
    [{ rule: '0,10 3 * * *', jitterSeconds: 600 }, 'jitterSeconds'],
  ])('rejects %j', async (fields, path) => {
    await expect(create(fields as object)).rejects.toMatchObject({ issues: [{ path }] })
  })

  test('the permissions, the template, the name and secrets', async () => {
    await expect(create({}, ours.viewer)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(create({ template: 'nope' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { name, id } = await create()
    await expect(create({ name })).rejects.toThrow('already a schedule')
    const other = await create()
    await expect(updateSchedule(ours.operator, { id: other.id, name })).rejects.toThrow('already a schedule')
    const inputSchema = { type: 'object', properties: { pw: { type: 'string', 'x-secret': true } } }
    await t.runtime.db
      .update(jobTemplates)
      .set({ inputSchema })
      .where(and(eq(jobTemplates.tenantId, ours.tenant.id), eq(jobTemplates.name, 'connectivity_check')))
    await expect(create({ settings: { extraVars: { pw: 'long enough' } } })).rejects.toThrow(/pw: is a secret.*secret variable/)
    const theirs = (await t.given.tenant()).admin
    for (const verb of [updateSchedule, deleteSchedule, enableSchedule, disableSchedule])
      await expect(verb(theirs, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    for (const verb of [updateSchedule, deleteSchedule, enableSchedule, disableSchedule])
      await expect(verb(ours.viewer, { id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('the same idempotency key creates one schedule', async () => {
    const input = { name: 'once', idempotencyKey: 'k1' }
    expect((await create(input)).id).toBe((await create(input)).id)
  })
})

test('previews ten times and says what is wrong', async () => {
  const now = new Date('2026-06-05T00:00Z')
  const { times } = previewSchedule({ rule: '0 3 * * SUN', timeZone: 'Europe/Berlin' }, now)
  expect([times.length, times[0]!.dueAt.toISOString()]).toEqual([10, '2026-06-07T01:00:00.000Z'])
  expect(() => previewSchedule({ rule: 'x' }, now)).toThrow(/rule: must be a cron expression/)
})

describe('the alert', () => {
  const alertsOf = () => t.runtime.db.select().from(alerts).where(eq(alerts.tenantId, ours.tenant.id)).orderBy(alerts.id)

  test('is open while the last result of an enabled schedule is a failure', async () => {
    const schedule = await create({ name: 'nightly' })
    await disableSchedule(ours.operator, await create())
    await fireNext(schedule)
    await checkSchedules(t.runtime)
    expect(await alertsOf()).toEqual([])
    await finish('failed')
    const [run] = await runsOf()
    for (let i = 0; i < 2; i++) await checkSchedules(t.runtime)
    expect(await alertsOf()).toMatchObject([
      {
        kind: 'schedule_failed',
        nodeId: null,
        count: 1,
        resolvedAt: null,
        evidence: { schedules: [{ name: 'nightly', run: run!.number, reason: expect.stringContaining('FAILED') }] },
      },
    ])
    // A skipped time and a run in progress change nothing.
    await fireNext(schedule)
    await checkSchedules(t.runtime)
    expect((await alertsOf())[0]).toMatchObject({ resolvedAt: null, count: 1 })
    await finish('ok')
    await checkSchedules(t.runtime)
    expect((await alertsOf())[0]!.resolvedAt).not.toBeNull()
  })

  test('covers refused starts, and ends when the schedule is disabled', async () => {
    const schedule = await create()
    await t.runtime.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, ours.operator.actor.id!))
    await fireNext(schedule)
    await checkSchedules(t.runtime)
    expect(await alertsOf()).toMatchObject([
      { resolvedAt: null, evidence: { schedules: [{ reason: expect.stringContaining('job_run:start') }] } },
    ])
    await disableSchedule(ours.admin, { id: schedule.id })
    await checkSchedules(t.runtime)
    expect((await alertsOf())[0]!.resolvedAt).not.toBeNull()
  })
})

test('retention keeps the last result and 1000 rows', async () => {
  const schedule = await create()
  const insert = (days: number) =>
    t.runtime.db.execute(sql`insert into schedule_firings (id, tenant_id, schedule_id, due_at, outcome, created_at)
      select gen_random_uuid(), ${ours.tenant.id}, ${schedule.id}, now() - make_interval(days => ${days}, secs => i), 'SKIPPED',
        now() - make_interval(days => ${days}) from generate_series(1, 3) i`)
  await insert(40)
  await insert(1)
  await t.runtime.db.update(tenants).set({ runRetentionDays: 30 }).where(eq(tenants.id, ours.tenant.id))
  await pruneScheduleFirings(t.runtime)
  const old = (await firingsOf(schedule)).filter(({ createdAt }) => createdAt < minutes(new Date(), -30 * 24 * 60))
  // At most the newest row, which is an old one or not, because these IDs are random.
  expect(old.length).toBeLessThanOrEqual(1)
  expect(await firingsOf(schedule)).toHaveLength(3 + old.length)
  await t.runtime.db.delete(scheduleFirings)
  await t.runtime.db.execute(sql`insert into schedule_firings (id, tenant_id, schedule_id, due_at, outcome)
    select gen_random_uuid(), ${ours.tenant.id}, ${schedule.id}, now() + make_interval(mins => i), 'SKIPPED' from generate_series(1, 1100) i`)
  await pruneScheduleFirings(t.runtime)
  expect(await firingsOf(schedule)).toHaveLength(1000)
})
