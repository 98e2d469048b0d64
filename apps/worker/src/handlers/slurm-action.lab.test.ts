import { auditEntries } from '@muster/core/audit'
import { createAuditSink } from '@muster/core/audit-sinks'
import { createCredential } from '@muster/core/credentials'
import { updateNode } from '@muster/core/nodes'
import {
  claimSlurmAction,
  previewSlurmAction,
  recordSlurmCommand,
  type SlurmActionItem,
  slurmActions,
} from '@muster/core/slurm-actions'
import { LOOPBACK } from '@muster/core/testing'
import { canRunSlurm } from '@muster/lab'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { reconcileAudit, reconcileAuditSinks } from '../reconcilers/audit.ts'
import { createWebhookReceiver, VERIFIERS } from '../testing/alert-receivers.ts'
import { createSlurmActions, type SlurmActions, type SlurmRequest } from '../testing/slurm-actions.ts'

const CONTROLLER = 'slurm-ctl-01'

describe.runIf(canRunSlurm())('actions on a real cluster', () => {
  let actions: SlurmActions
  let lab: SlurmActions['lab']
  let fixture: SlurmActions['fixture']
  let cluster: SlurmActions['cluster']
  let handle: SlurmActions['handle']

  beforeAll(async () => {
    actions = await createSlurmActions({ nodes: [{ name: 'cpu-01' }, { name: 'cpu-02' }] })
    ;({ lab, fixture, cluster, handle } = actions)
  })
  afterAll(() => actions?.close())

  const read = () => actions.read()
  const start = (request: SlurmRequest) => actions.start(request)
  const run = (request: SlurmRequest, reason?: string) => actions.run(request, reason)
  const resultOf = (id: string) => actions.resultOf(id)
  const slurm = async (...argv: string[]) => (await lab.slurm!.run(argv)).stdout.trim()
  const stateOf = (job: string) => slurm('squeue', '--noheader', '--format=%T %r', `--jobs=${job}`)
  const isRunning = (job: string) =>
    vi.waitFor(async () => expect(await stateOf(job)).toMatch(/^RUNNING/), { timeout: 60_000, interval: 200 })
  const resultsOf = (items: SlurmActionItem[]) => items.map(({ target, result }) => [target, result])

  it('drains a node with a running job, which survives, and resumes it', async () => {
    const job = await lab.slurm!.submit('sleep 3600', ['--nodelist=cpu-01'])
    await isRunning(job)
    const reason = `"swap" fan's | a=b; $(id) 更换 "`
    const drained = await run({ verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-01,nosuch' } }, reason)
    expect(drained.row).toMatchObject({ status: 'PARTIAL', problemCount: 1 })
    expect(drained.items).toMatchObject([
      {
        target: 'cpu-01',
        result: 'DONE',
        before: 'MIXED',
        after: `MIXED+DRAIN: ${(drained.row.action as { reason: string }).reason}`,
      },
      { target: 'nosuch', result: 'NOT_FOUND' },
    ])
    expect(await slurm('sinfo', '--noheader', '--Node', '--nodes=cpu-01,cpu-02', '--format=%N|%T|%E')).toContain(
      `cpu-01|draining|${reason} (muster `,
    )
    expect(await stateOf(job)).toBe('RUNNING None')
    const same = await run({ verb: 'UNDRAIN_NODES', nodes: { hostlist: 'cpu-0[1-2]' } })
    expect(resultsOf(same.items)).toEqual([
      ['cpu-01', 'DONE'],
      ['cpu-02', 'UNCHANGED'],
    ])
    expect(await stateOf(job)).toBe('RUNNING None')
    await slurm('scancel', job)
  })

  it('holds, releases and cancels the jobs that a preview counted', async () => {
    const ids = [
      await lab.slurm!.submit('sleep 600', ['--begin=now+1hour'], 'plain'),
      await lab.slurm!.submit('sleep 600', ['--begin=now+1hour', '--array=1-4%2'], 'plain'),
    ]
    const other = await lab.slurm!.submit('sleep 600', ['--begin=now+1hour'])
    await read()
    const request: SlurmRequest = { verb: 'HOLD_JOBS', jobs: { user: 'plain' } }
    const preview = () => previewSlurmAction(fixture.admin, { clusterId: cluster.id, reason: 'test', ...request })
    const shown = await preview()
    expect(shown.targets.map(({ target }) => target)).toEqual([ids[0], `${ids[1]}_[1-4%2]`])
    const held = await run({ ...request, fingerprint: shown.fingerprint })
    expect(held.row.status).toBe('SUCCEEDED')
    expect(await stateOf(ids[0]!)).toBe('PENDING JobHeldAdmin')
    expect(resultsOf((await run({ verb: 'RELEASE_JOBS', jobs: { ids: [`${ids[1]}_[1-2]`, ids[0]!, '99999'] } })).items)).toEqual([
      [`${ids[1]}_[1-2]`, 'DONE'],
      [ids[0], 'DONE'],
      ['99999', 'NOT_FOUND'],
    ])
    const changed = await run({ verb: 'UPDATE_JOBS', jobs: { ids: [ids[0]!] }, timeLimitMinutes: 90, priority: 777 })
    expect(changed.items).toMatchObject([{ result: 'DONE', after: expect.stringContaining('time limit 90 min, priority 777') }])
    const cancel: SlurmRequest = { verb: 'CANCEL_JOBS', jobs: { user: 'plain' } }
    await read()
    const { fingerprint } = await previewSlurmAction(fixture.admin, { clusterId: cluster.id, reason: 'test', ...cancel })
    expect((await run({ ...cancel, fingerprint })).row.status).toBe('SUCCEEDED')
    expect(await slurm('squeue', '--noheader', '--format=%i')).toBe(other)
    await slurm('scancel', other)
  })

  it('quotes Slurm for a job that cannot be suspended, and requeues a running one once', async () => {
    const job = await lab.slurm!.submit('sleep 600', ['--requeue'])
    const pending = await lab.slurm!.submit('sleep 600', ['--begin=now+1hour'])
    await isRunning(job)
    const suspended = await run({ verb: 'SUSPEND_JOBS', jobs: { ids: [job, pending] } })
    expect(suspended.items).toMatchObject([
      { target: job, result: 'DONE', after: 'SUSPENDED' },
      { target: pending, result: 'REFUSED', message: expect.stringContaining('Job is pending execution') },
    ])
    expect((await run({ verb: 'RESUME_JOBS', jobs: { ids: [job] } })).items).toMatchObject([{ result: 'DONE', after: 'RUNNING' }])
    expect((await run({ verb: 'REQUEUE_JOBS', jobs: { ids: [job] } })).row.status).toBe('SUCCEEDED')
    await slurm('scancel', job, pending)
  })

  it('continues for a lost worker, and repeats only what does no harm', async () => {
    const { runtime, worker, tenant } = fixture
    const job = await lab.slurm!.submit('sleep 600', ['--requeue', '--nodelist=cpu-02'])
    await isRunning(job)
    const lose = async (request: SlurmRequest, target: string) => {
      const { id } = await start(request)
      await claimSlurmAction(worker, { id, token: 'lost' })
      await recordSlurmCommand(worker, { id, token: 'lost', command: 'x', targets: [{ target, before: null }] })
      await handle({ id, tenantId: tenant.id })
      expect((await resultOf(id)).row.status).toBe('RUNNING')
      await runtime.db.update(slurmActions).set({ claimedUntil: sql`now()` }).where(eq(slurmActions.id, id))
      await handle({ id, tenantId: tenant.id })
      return (await resultOf(id)).items
    }
    expect(await lose({ verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-02' } }, 'cpu-02')).toMatchObject([{ result: 'DONE' }])
    expect(await lose({ verb: 'REQUEUE_JOBS', jobs: { ids: [job] } }, job)).toMatchObject([
      { result: 'NOT_VERIFIED', message: expect.stringContaining('not repeated') },
    ])
    expect(await stateOf(job)).toBe('RUNNING None')
    expect((await run({ verb: 'RESUME_NODES', nodes: { hostlist: 'cpu-02' } })).row.status).toBe('SUCCEEDED')
    await slurm('scancel', job)
  })

  it('changes partitions, weights, features and reservations', async () => {
    const partition = (partitionState: 'DRAIN' | 'UP') =>
      run({ verb: 'SET_PARTITION_STATE', partitions: ['batch'], partitionState })
    expect((await partition('DRAIN')).items).toMatchObject([{ result: 'DONE', before: 'UP', after: 'DRAIN' }])
    expect((await partition('UP')).items).toMatchObject([{ result: 'DONE', after: 'UP' }])
    const update = await run({ verb: 'UPDATE_NODES', nodes: { hostlist: 'cpu-02' }, features: ['rack2', 'fast'], weight: 7 })
    expect(update.items).toMatchObject([{ result: 'DONE', after: 'weight 7, features rack2,fast' }])
    const reservation = { name: 'fix', hostlist: 'cpu-02', durationMinutes: 60, users: ['root'] }
    const create = () => run({ verb: 'CREATE_RESERVATION', reservation: { ...reservation, flags: ['MAINT'] } })
    expect((await create()).row.status).toBe('SUCCEEDED')
    expect((await create()).items).toMatchObject([{ result: 'UNCHANGED' }])
    const longer = await run({ verb: 'UPDATE_RESERVATION', reservation: { name: 'fix', durationMinutes: 120 } })
    expect(longer.row.status).toBe('SUCCEEDED')
    const again = await run({ verb: 'CREATE_RESERVATION', reservation })
    expect(again.items).toMatchObject([{ result: 'REFUSED', message: expect.stringContaining('Duplicate reservation name') }])
    const remove = () => run({ verb: 'DELETE_RESERVATION', reservation: { name: 'fix' } })
    expect((await remove()).items).toMatchObject([{ result: 'DONE', after: null }])
    expect((await remove()).items).toMatchObject([{ result: 'NOT_FOUND' }])
  })

  it('runs as root with sudo for an account without rights in Slurm', async () => {
    const { admin, runtime } = fixture
    const use = (credentialId: string) => updateNode(admin, { id: cluster.controllerNodeId!, credentialId })
    const logInWith = async (input: Parameters<typeof createCredential>[1]) => use((await createCredential(admin, input)).id)
    const drain = () => run({ verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-02' } }, 'sudo "x" $(id)')
    const { credentialId } = (await runtime.db.query.computeNodes.findFirst({ where: { id: cluster.controllerNodeId! } }))!
    const { username, password } = lab.credentials.plainPassword!
    await logInWith({ name: 'plain', kind: 'SSH_PASSWORD', username, password })
    expect((await drain()).items).toMatchObject([
      { result: 'REFUSED', message: expect.stringMatching(/^slurm_update error: Invalid user id\n.*sudo without a password/s) },
    ])
    const { username: ops, privateKey } = lab.credentials.sshKey
    await logInWith({ name: 'ops', kind: 'SSH_KEY', username: ops, privateKey })
    const drained = await drain()
    expect(drained.items).toMatchObject([{ result: 'DONE', after: expect.stringContaining('sudo "x" $(id) (muster ') }])
    const entries = await runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, drained.row.id))
    expect(entries.find(({ action }) => action === 'slurm_action.execute')!.details).toMatchObject({
      command: expect.stringMatching(/^sudo -n \S*\/scontrol update nodename=cpu-02 state=drain /),
    })
    expect((await run({ verb: 'UNDRAIN_NODES', nodes: { hostlist: 'cpu-02' } })).row.status).toBe('SUCCEEDED')
    await use(credentialId!)
  })

  it('is delivered to a webhook that receives the audit log', async () => {
    const { runtime, owner } = fixture
    const receiver = await createWebhookReceiver(VERIFIERS.webhook('a webhook secret'))
    const sink = { name: 'siem', kind: 'webhook' as const, url: receiver.url, secret: 'a webhook secret' }
    await createAuditSink(owner, sink, LOOPBACK)
    const { row } = await run({ verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-02' } })
    await run({ verb: 'UNDRAIN_NODES', nodes: { hostlist: 'cpu-02' } })
    const reconcilers = [
      reconcileAudit(runtime),
      reconcileAuditSinks(runtime, 'w', { hostname: 'muster', localTargets: LOOPBACK }),
    ]
    onTestFinished(async () => void (await Promise.all([...reconcilers, receiver].map((one) => one.stop()))))
    type Entry = { action: string; objectId: string; details: Record<string, unknown> }
    const entries = () => receiver.got.flatMap(({ body }) => JSON.parse(body).entries as Entry[])
    const received = () => entries().filter(({ objectId }) => objectId === row.id)
    await vi.waitFor(() => expect(received()).toHaveLength(3), { timeout: 60_000, interval: 100 })
    expect(received()).toMatchObject([
      { action: 'slurm_action.start' },
      {
        action: 'slurm_action.execute',
        details: { command: expect.stringContaining('scontrol update nodename=cpu-02 state=drain') },
      },
      { action: 'slurm_action.finish' },
    ])
  })

  it('sends nothing when no controller answers', async () => {
    await lab.fault(CONTROLLER, 'controller-stop')
    const { row, items } = await run({ verb: 'DRAIN_NODES', nodes: { hostlist: 'cpu-01' } })
    expect(row).toMatchObject({ status: 'FAILED', error: expect.stringContaining('No controller answers: slurm-ctl-01') })
    expect(items).toMatchObject([{ result: 'NOT_SENT', sentAt: null }])
    await lab.heal()
  })
})
