import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localStore } from '@muster/core/artifacts'
import type { Ctx } from '@muster/core/context'
import { createListener } from '@muster/core/events'
import { schema } from '@muster/core/registry'
import { retryTransient } from '@muster/core/retry-transient'
import { claimJobRun } from '@muster/core/run-queue'
import { type JobRun, type JobRunEvent, type JobRunHost, runJob } from '@muster/core/runs'
import { LOOPBACK, type TenantFixture, testRuntime } from '@muster/core/testing'
import { asc, eq } from 'drizzle-orm'
import pg from 'pg'
import type { ExecutorConfig } from '../ansible/deps.ts'
import { executeRun } from '../ansible/execute-run.ts'
import { type Isolation, noIsolation } from '../ansible/isolation/isolation.ts'

export const PLAYBOOKS = fileURLToPath(new URL('../../../../playbooks', import.meta.url))

/** Path of the real ansible-playbook, which `npm test` sets. */
export function realAnsible(): string {
  const path = process.env.ANSIBLE_PLAYBOOK
  if (!path)
    throw new Error('ANSIBLE_PLAYBOOK is not set: run the tests with `npm test`, or give the path of an ansible-playbook')
  return path
}

export type RunSnapshot = { run: JobRun; hosts: JobRunHost[]; events: JobRunEvent[]; log: string }

/** A database, a tenant, a work directory, playbooks, and a worker's execution of runs. */
export async function createRunFixture(overrides: Partial<ExecutorConfig> & { ANSIBLE_PLAYBOOK: string }) {
  const test = await testRuntime({ notify: 'real' })
  const listener = await createListener(test.url, test.runtime.log)
  const tenantFixture: TenantFixture = await test.given.tenant()
  const root = await mkdtemp(join(tmpdir(), 'muster-runs-'))
  const playbooks = join(root, 'playbooks')
  const config: ExecutorConfig = {
    ANSIBLE_WORK_DIR: join(root, 'work'),
    ANSIBLE_PLAYBOOK_REPO_PATH: PLAYBOOKS,
    JOB_CANCEL_GRACE_PERIOD: 8,
    SSH_TIMEOUT: 10,
    ARTIFACT_MAX_SIZE: 1,
    LOCAL_TARGETS: LOOPBACK,
    ...overrides,
  }
  const store = localStore(join(root, 'artifacts'))
  const { db } = test.runtime
  const stopping = new AbortController()
  // Tests also read while they cut connections.
  const read = (id: string): Promise<RunSnapshot> => retryTransient(() => readOnce(id), { everyMs: 50 })
  const readOnce = async (id: string): Promise<RunSnapshot> => {
    const [run] = await db.select().from(schema.jobRuns).where(eq(schema.jobRuns.id, id))
    const hosts = await db
      .select()
      .from(schema.jobRunHosts)
      .where(eq(schema.jobRunHosts.jobRunId, id))
      .orderBy(schema.jobRunHosts.name)
    const events = await db
      .select()
      .from(schema.jobRunEvents)
      .where(eq(schema.jobRunEvents.jobRunId, id))
      .orderBy(asc(schema.jobRunEvents.seq))
    return { run: run!, hosts, events, log: events.flatMap((event) => event.stdout ?? []).join('\n') }
  }
  return {
    ...test,
    ...tenantFixture,
    listener,
    config,
    store,
    isolation: noIsolation(null) as Isolation,
    stopping,
    storeRetryForMs: undefined as number | undefined,
    read,
    /** Creates a template with the playbook `text`. */
    async template(name: string, text: string, columns: Partial<typeof schema.jobTemplates.$inferInsert> = {}): Promise<string> {
      if (config.ANSIBLE_PLAYBOOK_REPO_PATH !== playbooks) {
        // Like an administrator's directory: without Muster's plugins, modules and roles. Copies, because links out of it are rejected.
        await mkdir(playbooks)
        for (const file of (await readdir(PLAYBOOKS)).filter((name) => name.endsWith('.yml')))
          await cp(join(PLAYBOOKS, file), join(playbooks, file))
        config.ANSIBLE_PLAYBOOK_REPO_PATH = playbooks
      }
      await writeFile(join(playbooks, `${name}.yml`), text)
      await db.insert(schema.jobTemplates).values({
        tenantId: tenantFixture.tenant.id,
        name,
        displayName: name,
        category: 'custom',
        playbookPath: `${name}.yml`,
        // Abandoned runs would keep their nodes locked; other tests cover locks.
        isReadOnly: true,
        ...columns,
      })
      return name
    },
    /** Executes a run as a worker; resolves when it is complete. */
    async execute(id: string): Promise<RunSnapshot> {
      const token = randomUUID()
      const claim = await retryTransient(() => claimJobRun(tenantFixture.worker, { id, workerId: 'worker-1', token }))
      if (claim)
        await executeRun(
          {
            config,
            store,
            isolation: this.isolation,
            storeRetryForMs: this.storeRetryForMs,
            listener,
            stopping: stopping.signal,
          },
          tenantFixture.worker,
          claim,
        )
      return read(id)
    },
    /** Starts a run and executes it. */
    async start(
      input: Parameters<typeof runJob>[1],
      as: Ctx = tenantFixture.operator,
    ): Promise<{ id: string; done: Promise<RunSnapshot> }> {
      const run = await runJob(as, input)
      return { id: run.id, done: this.execute(run.id) }
    },
    /** Ends all connections to this database, as a restart of Postgres does. */
    async cutConnections(): Promise<void> {
      const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
      await client.connect()
      const name = new URL(test.url).pathname.slice(1)
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
      await client.end()
    },
    async close() {
      await listener.close()
      await test.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
export type RunFixture = Awaited<ReturnType<typeof createRunFixture>>
