import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addSlurmCluster, type SlurmCluster } from '@muster/core/clusters'
import { createCredential } from '@muster/core/credentials'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { type SlurmActionItem, startSlurmAction } from '@muster/core/slurm-actions'
import { testRuntime } from '@muster/core/testing'
import { canRunSlurm } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pinnedKey } from '../testing/node-access.ts'
import { realAnsible } from '../testing/run-fixture.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { spawnWorker, type WorkerProcess } from '../testing/spawn-worker.ts'

const CONTROLLER = 'slurm-ctl-01'
const NODES = Array.from({ length: 6 }, (_, i) => `cpu-0${i + 1}`)
const JOBS = 12
const LONG = { timeout: 120_000, interval: 50 }
const MAX_ROUNDS = 15
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
/** A job step that counts the signals it gets. */
const COUNTER = `srun sh -c 'trap "echo 1 >> /tmp/signals-$SLURM_JOB_ID" USR1; touch /tmp/ready-$SLURM_JOB_ID; while :; do sleep 0.1; done'`

type Request = Omit<Parameters<typeof startSlurmAction>[1], 'clusterId' | 'reason'>
type Ended = { id: string; items: SlurmActionItem[]; audit: Audited }
/** Audit entries of an action by kind. */
type Audited = Record<'start' | 'execute' | 'finish', Record<string, unknown>[]>

describe.runIf(canRunSlurm())(`a worker that is killed during an action, seed ${SEED}`, () => {
  const random = seededRandom(SEED)
  let lab: Awaited<ReturnType<typeof createLab>>
  let fixture: Awaited<ReturnType<typeof testRuntime>>
  let tenant: Awaited<ReturnType<(typeof fixture)['given']['tenant']>>
  let folder: string
  let worker: WorkerProcess
  let cluster: SlurmCluster

  beforeAll(async () => {
    ;[lab, fixture, folder] = await Promise.all([
      createLab({ nodes: NODES.map((name) => ({ name })), slurm: { config: { SlurmdTimeout: '300' } } }),
      testRuntime({ vault: 'real' }),
      mkdtemp(join(tmpdir(), 'muster-killed-worker-')),
    ])
    tenant = await fixture.given.tenant()
    const { username, privateKey } = lab.credentials.rootKey!
    const { id: credentialId } = await createCredential(tenant.admin, { name: 'root', kind: 'SSH_KEY', username, privateKey })
    const { name, host, port, ...node } = lab.node(CONTROLLER)
    const hostKey = pinnedKey({ name, host, port, ...node })
    const controller = await addNode(tenant.admin, { name, host, port, credentialId, hostKey })
    await startWorker()
    cluster = await addSlurmCluster(tenant.admin, { name: 'lab', controllerNodeId: controller.id })
    await vi.waitFor(async () => expect(await fixture.runtime.db.$count(schema.slurmNodes)).toBe(NODES.length), LONG)
  })
  afterAll(async () => {
    worker?.child.kill('SIGKILL')
    await worker?.ended
    await fixture?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  async function startWorker(): Promise<void> {
    worker = spawnWorker({
      DATABASE_URL: fixture.url,
      ANSIBLE_PLAYBOOK: realAnsible(),
      ANSIBLE_WORK_DIR: join(folder, 'runs'),
      ARTIFACT_DIR: join(folder, 'artifacts'),
    })
    await vi.waitFor(() => expect(worker.output).toContain('the worker is ready'), LONG)
  }
  const slurm = async (...argv: string[]) => (await lab.slurm!.run(argv)).stdout.trim()
  const rowOf = async (id: string) =>
    (await fixture.runtime.db.select().from(schema.slurmActions).where(eq(schema.slurmActions.id, id)))[0]!
  const itemsOf = (id: string) =>
    fixture.runtime.db
      .select()
      .from(schema.slurmActionItems)
      .where(eq(schema.slurmActionItems.actionId, id))
      .orderBy(asc(schema.slurmActionItems.id))

  async function auditOf(id: string): Promise<Audited> {
    const { auditEntries } = schema
    const rows = await fixture.runtime.db
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.objectId, id))
      .orderBy(asc(auditEntries.id))
    const of = (verb: string) => rows.flatMap(({ action, details }) => (action === `slurm_action.${verb}` ? [details] : []))
    return { start: of('start'), execute: of('execute'), finish: of('finish') }
  }

  /**
   * Starts an action, kills the worker at a random moment, and lets another one end the action. Repeats this with new targets until
   * workers were killed before, between and after the commands.
   */
  async function killUntilCovered(start: () => Promise<Request>, check: (ended: Ended) => Promise<void>): Promise<void> {
    const seen = { unsent: 0, partly: 0, sent: 0 }
    let longestMs = 1500
    for (let round = 0; round < MAX_ROUNDS && !(seen.unsent > 0 && seen.partly + seen.sent > 1); round++) {
      const request = await start()
      const { id } = await startSlurmAction(tenant.admin, { clusterId: cluster.id, reason: `round ${round}`, ...request })
      await vi.waitFor(async () => expect((await rowOf(id)).startedAt).not.toBeNull(), { ...LONG, interval: 5 })
      const startedAt = performance.now()
      const delay = random(longestMs)
      await new Promise((resolve) => setTimeout(resolve, delay))
      worker.child.kill('SIGKILL')
      await worker.ended
      const isUnfinished = (await rowOf(id)).finishedAt === null
      if (isUnfinished) {
        const sent = (await itemsOf(id)).filter(({ sentAt }) => sentAt !== null).length
        seen[sent === 0 ? 'unsent' : sent < (await itemsOf(id)).length ? 'partly' : 'sent']++
      } else longestMs = Math.max(200, Math.min(longestMs, Math.round(performance.now() - startedAt)))
      // The claims of a lost worker expire at once.
      await fixture.runtime.db.execute(sql`update slurm_actions set claimed_until = now() where finished_at is null`)
      await fixture.runtime.db.execute(sql`update slurm_clusters set claimed_until = now() where claimed_until is not null`)
      await startWorker()
      await vi.waitFor(async () => expect((await rowOf(id)).finishedAt).not.toBeNull(), LONG)
      const items = await itemsOf(id)
      expect(items.filter(({ result }) => result === null)).toEqual([])
      await check({ id, items, audit: await auditOf(id) })
    }
    process.stderr.write(`seed ${SEED}: killed before, between and after the commands: ${JSON.stringify(seen)}\n`)
    expect(seen.unsent).toBeGreaterThan(0)
    expect(seen.partly + seen.sent).toBeGreaterThan(1)
  }

  const submit = (script: string) => Promise.all(Array.from({ length: JOBS }, () => lab.slurm!.submit(script, ['--ntasks=1'])))
  const queue = async () => (await slurm('squeue', '--noheader', '--format=%i')).split('\n').filter(Boolean)
  /** Lines of a file per job, over all nodes. */
  async function linesOf(file: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>()
    for (const name of NODES) {
      const { stdout } = await lab
        .node(name)
        .exec(['sh', '-c', `cd /tmp && for f in ${file}-*; do test -e $f && echo $f $(wc -l < $f); done`])
      for (const line of stdout.trim().split('\n').filter(Boolean)) {
        const [path, lines] = line.split(' ')
        counts.set(path!.slice(file.length + 1), Number(lines))
      }
    }
    return counts
  }

  test('drains every node once, with its reason', { timeout: 400_000 }, async () => {
    const list = NODES.join(',')
    await killUntilCovered(
      async () => {
        for (const name of NODES) await slurm('scontrol', 'update', `nodename=${name}`, 'state=resume')
        return { verb: 'DRAIN_NODES', nodes: { hostlist: list } }
      },
      async ({ id, items, audit }) => {
        expect(items.map(({ target, result }) => [target, result])).toEqual(NODES.map((name) => [name, 'DONE']))
        const states = await slurm('sinfo', '--noheader', '--Node', `--nodes=${list}`, '--partition=batch', '--format=%N|%T|%E')
        const mark = `(muster ${id.slice(-12)})`
        for (const line of states.split('\n')) expect(line).toMatch(/^cpu-0\d\|drained\|round \d+ /)
        expect(states.split('\n').filter((line) => line.endsWith(mark))).toHaveLength(NODES.length)
        expect([audit.start.length, audit.finish.length]).toEqual([1, 1])
        expect(audit.finish[0]).toMatchObject({ status: 'SUCCEEDED', counts: { DONE: NODES.length } })
      },
    )
    for (const name of NODES) await slurm('scontrol', 'update', `nodename=${name}`, 'state=resume')
  })

  test('cancels every job', { timeout: 400_000 }, async () => {
    await killUntilCovered(
      async () => ({ verb: 'CANCEL_JOBS', jobs: { ids: await submit('sleep 600') } }),
      async ({ items, audit }) => {
        expect(items.map(({ result }) => result)).toEqual(Array(JOBS).fill('DONE'))
        await vi.waitFor(async () => expect(await queue()).toEqual([]), LONG)
        expect([audit.start.length, audit.finish.length]).toEqual([1, 1])
        expect(audit.finish[0]).toMatchObject({ status: 'SUCCEEDED', counts: { DONE: JOBS } })
      },
    )
  })

  test('sends no signal twice, and reports the known result of each job', { timeout: 400_000 }, async () => {
    await killUntilCovered(
      async () => {
        const ids = await submit(COUNTER)
        await vi.waitFor(async () => {
          const ready = await linesOf('ready')
          expect(ids.filter((id) => !ready.has(id))).toEqual([])
        }, LONG)
        return { verb: 'CANCEL_JOBS', signal: 'USR1', jobs: { ids } }
      },
      async ({ items, audit }) => {
        const ids = items.map(({ target }) => target)
        const isDone = items.filter(({ result }) => result === 'DONE').map(({ target }) => target)
        // A step notes a signal within 0.1 s of its arrival.
        await vi.waitFor(async () => {
          const signals = await linesOf('signals')
          expect(isDone.filter((id) => !signals.has(id))).toEqual([])
        }, LONG)
        const signals = await linesOf('signals')
        expect(ids.filter((id) => (signals.get(id) ?? 0) > 1)).toEqual([])
        const others = items.filter(({ result }) => result !== 'DONE')
        expect(others.filter(({ result, sentAt }) => result !== 'NOT_VERIFIED' || sentAt === null)).toEqual([])
        for (const { message } of others) expect(message).toContain('it was not repeated')
        // One command was under way at most.
        expect(others.length).toBeLessThanOrEqual(1)
        expect(audit.execute.map(({ command }) => command).sort()).toEqual(ids.map((id) => `scancel --signal=USR1 ${id}`).sort())
        const counts = {
          ...(isDone.length > 0 && { DONE: isDone.length }),
          ...(others.length > 0 && { NOT_VERIFIED: others.length }),
        }
        expect([audit.start.length, audit.finish.length]).toEqual([1, 1])
        expect(audit.finish[0]!.counts).toEqual(counts)
        await slurm('scancel', ...ids)
        await vi.waitFor(async () => expect(await queue()).toEqual([]), LONG)
      },
    )
  })
})
