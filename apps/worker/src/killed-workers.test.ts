import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schema } from '@muster/core/registry'
import { type JobRun, runJob } from '@muster/core/runs'
import { FAULT_TIMEOUT, isLong, scaleIterations, testRuntime } from '@muster/core/testing'
import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findProcesses } from './ansible/process/processes.ts'
import { spawnWorker, type WorkerProcess } from './testing/spawn-worker.ts'

const FAKE = fileURLToPath(new URL('./testing/fake-ansible-playbook.mjs', import.meta.url))
const RUNS = scaleIterations(200)
const KILLS = scaleIterations(60)
const WORKERS = isLong ? 4 : 2
// Workers renew a run every 5 s. It is lost 30 s after the last renewal.
const LONGEST_MS = 35_000
const LONG = { timeout: 240_000 }

const { jobRuns, jobRunEvents, jobTemplates } = schema

test(`${RUNS} runs end once when workers are killed ${KILLS} times`, { timeout: FAULT_TIMEOUT }, async () => {
  const fixture = await testRuntime({ vault: 'real' })
  const { db } = fixture.runtime
  const folder = await mkdtemp(join(tmpdir(), 'muster-kills-'))
  const runsDir = join(folder, 'runs')
  const workers = new Set<WorkerProcess>()
  onTestFinished(async () => {
    for (const { child } of workers) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const start = async () => {
    const worker = spawnWorker({
      DATABASE_URL: fixture.url,
      ANSIBLE_PLAYBOOK: FAKE,
      ANSIBLE_PLAYBOOK_REPO_PATH: folder,
      ANSIBLE_WORK_DIR: runsDir,
      ARTIFACT_DIR: join(folder, 'artifacts'),
    })
    workers.add(worker)
    await expect.poll(() => worker.output, LONG).toContain('the worker is ready')
  }

  const { tenant, admin, operator } = await fixture.given.tenant()
  const { id: credentialId } = await fixture.given.credential(admin, 'SSH_KEY')
  await fixture.given.fleet(admin, { with: { credentialId } })
  await writeFile(join(folder, 'held.yml'), '')
  const held = { tenantId: tenant.id, category: 'custom', playbookPath: 'held.yml', isReadOnly: true } as const
  for (const [name, isIdempotent] of [
    ['once', false],
    ['repeatable', true],
  ] as const)
    await db.insert(jobTemplates).values({ ...held, name, displayName: name, isIdempotent })
  const all: JobRun[] = []
  for (let i = 0; i < RUNS; i++) all.push(await runJob(operator, { template: i % 2 ? 'repeatable' : 'once', limit: 'all' }))
  await Promise.all(Array.from({ length: WORKERS }, start))

  const runsInProgress = () =>
    db
      .select()
      .from(jobRuns)
      .where(and(isNotNull(jobRuns.startedAt), isNull(jobRuns.finishedAt)))
  const isOf =
    ({ child }: WorkerProcess) =>
    (run: { claimedBy: string | null }) =>
      run.claimedBy!.split('-').at(-2) === String(child.pid)
  /** By run, the last renewals of its killed workers. */
  const losses = new Map<string, Date[]>(all.map(({ id }) => [id, []]))
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = await vi.waitFor(async () => {
      const runs = await runsInProgress()
      const busy = [...workers].find((worker) => runs.some(isOf(worker)))
      if (!busy) throw new Error('no worker has a run')
      return busy
    }, LONG)
    victim.child.kill('SIGKILL')
    await victim.ended
    workers.delete(victim)
    for (const run of (await runsInProgress()).filter(isOf(victim))) {
      losses.get(run.id)!.push(run.workerSeenAt!)
      // Without waiting until its last renewal is old enough.
      if (!isLong) await db.update(jobRuns).set({ workerSeenAt: sql`now() - interval '1 minute'` }).where(eq(jobRuns.id, run.id))
    }
    await start()
  }
  await writeFile(join(folder, 'go'), '')

  for (const { id, isIdempotent } of all) {
    const read = async () => (await db.select().from(jobRuns).where(eq(jobRuns.id, id)))[0]!
    await expect.poll(async () => (await read()).finishedAt, LONG).not.toBeNull()
    const run = await read()
    const lost = losses.get(id)!
    expect(run.status).toBe(lost.length > (isIdempotent ? 1 : 0) ? 'ERROR' : 'SUCCEEDED')
    const events = await db.select().from(jobRunEvents).where(eq(jobRunEvents.jobRunId, id)).orderBy(asc(jobRunEvents.seq))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    expect(events.filter(({ kind }) => kind === 'run_end')).toEqual([events.at(-1)])
    expect(events.filter(({ kind }) => kind === 'play_start').length).toBeLessThanOrEqual(1 + lost.length)
    const noted = events.filter(({ stdout }) => stdout?.startsWith('Worker lost.'))
    expect(noted).toHaveLength(lost.length)
    if (isLong)
      for (const [i, { createdAt }] of noted.entries())
        expect(createdAt.getTime() - lost[i]!.getTime()).toBeLessThanOrEqual(LONGEST_MS)
  }
  // Later workers removed everything that killed workers left.
  for (const { child } of workers) child.kill('SIGTERM')
  expect(await Promise.all([...workers].map(({ ended }) => ended))).toEqual(Array(WORKERS).fill(0))
  // A worker killed while it creates a directory leaves one without an owner, which is removed after a day.
  const left = (existsSync(runsDir) ? await readdir(runsDir) : []).filter((name) => existsSync(join(runsDir, name, 'owner.json')))
  expect(left).toEqual([])
  expect(await findProcesses(runsDir)).toEqual([])
  await fixture.close()
})
