import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCredential } from '@muster/core/credentials'
import { discoverNodes } from '@muster/core/discoveries'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { type SlurmOperation, slurmOperationNodes, slurmOperations } from '@muster/core/slurm-operations'
import { testRuntime } from '@muster/core/testing'
import { type LabOptions, SLURM_NODE_LIMITS, serveSlurmPackages } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { asc, eq, sql } from 'drizzle-orm'
import { expect, vi } from 'vitest'
import { pinnedKey } from './node-access.ts'
import { realAnsible } from './run-fixture.ts'
import { spawnWorker, type WorkerProcess } from './spawn-worker.ts'

const PLAYBOOKS = fileURLToPath(new URL('../../../../playbooks', import.meta.url))
const LONG = { timeout: 900_000, interval: 300 }
const FAST = { ...LONG, interval: 10 }
/** Key of the advisory lock on which a worker waits at the end of a held step. */
const LOCK = 4711
/** Settings of clusters on lab nodes. */
export const LAB_LINES = [...SLURM_NODE_LIMITS, 'MessageTimeout=5']

/** READY nodes without Slurm, a repository with its packages, and a worker process, which tests kill. */
/** @param env environment of the worker */
export async function createManagedLab(
  names: string[],
  { folders = [], env = {} }: Pick<LabOptions, 'folders'> & { env?: Record<string, string> } = {},
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-managed-'))
  const sharedFolder = path.join(folder, 'shared')
  await mkdir(sharedFolder)
  const nodes = names.map((name) => ({ name, profile: 'cpu' as const }))
  const lab = await createLab({ nodes, bastion: false, mode: 'namespaces', sharedFolder, folders })
  const repository = await serveSlurmPackages(lab)
  const t = await testRuntime({ vault: 'real' })
  const { db } = t.runtime
  const fixture = await t.given.tenant()
  const workers: WorkerProcess[] = []
  let release = async () => {}

  const { username, privateKey } = lab.credentials.sshKey
  const key = await createCredential(fixture.admin, { name: 'lab key', kind: 'SSH_KEY', username, privateKey })
  const ids = new Map<string, string>()
  for (const node of lab.nodes) {
    const { name, host, port } = node
    const row = await addNode(fixture.admin, { name, host, port, credentialId: key.id, hostKey: pinnedKey(node) })
    ids.set(name, row.id)
  }
  // Of the worker's update that would record the end of a step.
  await t.asOwner(`
    create table held_steps (name text not null);
    create function hold_step() returns trigger language plpgsql security definer as $$ begin
      if exists (
        select from public.held_steps h, jsonb_array_elements(new.steps) s where s->>'name' = h.name and s->>'state' = 'DONE'
      ) then
        perform pg_advisory_xact_lock(${LOCK});
      end if;
      return new;
    end $$;
    create trigger hold_step before update of steps on slurm_operations for each row execute function hold_step();`)

  async function startWorker(): Promise<void> {
    const worker = spawnWorker({
      DATABASE_URL: t.url,
      ANSIBLE_PLAYBOOK: realAnsible(),
      ANSIBLE_PLAYBOOK_REPO_PATH: PLAYBOOKS,
      ANSIBLE_WORK_DIR: path.join(folder, `runs-${Date.now()}`),
      ARTIFACT_DIR: path.join(folder, 'artifacts'),
      ...env,
    })
    workers.push(worker)
    await vi.waitFor(() => expect(worker.output).toContain('the worker is ready'), LONG)
  }

  /** Kills the worker, and lets its claims expire, which takes a minute otherwise. */
  async function killWorker(): Promise<void> {
    const worker = workers.pop()!
    worker.child.kill('SIGKILL')
    await worker.ended
    await release()
    await db.execute(sql`update slurm_operations set claimed_until = now() where claimed_until is not null`)
    await db.execute(
      sql`update job_runs set worker_seen_at = now() - interval '1 hour' where finished_at is null and started_at is not null`,
    )
  }

  /** A worker that has done the work of a step waits before it records that. Until `releaseStep`, or the end of the worker. */
  async function holdStep(name: string): Promise<void> {
    const locked = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const transaction = db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
      locked.resolve()
      await ended.promise
    })
    await Promise.race([locked.promise, transaction])
    await t.asOwner(`insert into held_steps values ('${name}')`)
    release = async () => {
      release = async () => {}
      await t.asOwner('delete from held_steps')
      ended.resolve()
      await transaction
    }
  }
  async function isHeld(): Promise<boolean> {
    const { rows } = await db.execute(
      sql`select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
          where l.locktype = 'advisory' and l.objid = ${LOCK} and not l.granted`,
    )
    return rows.length > 0
  }

  const operation = async (id: string): Promise<SlurmOperation> =>
    (await db.select().from(slurmOperations).where(eq(slurmOperations.id, id)))[0]!
  const nodesOf = (id: string) =>
    db.select().from(slurmOperationNodes).where(eq(slurmOperationNodes.operationId, id)).orderBy(asc(slurmOperationNodes.name))

  await startWorker()
  await discoverNodes(fixture.admin, { nodeIds: [...ids.values()] })
  const { computeNodes, discoveries } = schema
  await vi.waitFor(async () => {
    const rows = await db.select({ finishedAt: discoveries.finishedAt }).from(discoveries)
    expect(rows.filter(({ finishedAt }) => finishedAt !== null)).toHaveLength(names.length)
  }, LONG)
  const found = await db.select({ name: computeNodes.name, status: computeNodes.status }).from(computeNodes)
  expect(found.filter(({ status }) => status !== 'READY')).toEqual([])

  return {
    lab,
    repository,
    t,
    fixture,
    folder,
    id: (name: string) => ids.get(name)!,
    on: async (node: string, command: string) => (await lab.node(node).exec(['sh', '-c', command])).stdout.trim(),
    startWorker,
    killWorker,
    holdStep,
    releaseStep: () => release(),
    /** Waits until a worker has done the work of the held step. */
    held: () => vi.waitFor(async () => expect(await isHeld()).toBe(true), FAST),
    isHeld,
    operation,
    /**
     * Waits until a step runs, or has ended and is held.
     * @param message part of the text that it shows; a stage that an earlier worker completed is not repeated, and shows none
     */
    runs: ({ id }: SlurmOperation, name: string, message = '') =>
      vi.waitFor(async () => {
        if (await isHeld()) return
        const step = (await operation(id)).steps.find((step) => step.name === name)
        expect(step).toMatchObject({ state: 'RUNNING' })
        expect(step!.message ?? '').toContain(message)
      }, FAST),
    /** Waits for the end of an operation. */
    async ended({ id }: SlurmOperation) {
      await vi.waitFor(async () => expect((await operation(id)).finishedAt).not.toBeNull(), LONG)
      const { status, error } = await operation(id)
      return { status, error, nodes: (await nodesOf(id)).map(({ name, phase, message }) => [name, phase, message]) }
    },
    async close() {
      for (const { child } of workers) child.kill('SIGKILL')
      await release()
      await repository.close()
      await t.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type ManagedLab = Awaited<ReturnType<typeof createManagedLab>>
