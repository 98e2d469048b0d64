import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localStore } from '@muster/core/artifacts'
import type { Ctx } from '@muster/core/context'
import { schema } from '@muster/core/db'
import { createListener } from '@muster/core/events'
import { claimJobRun, type JobRun, type JobRunEvent, type JobRunHost, runJob } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'
import { type Cast, testRuntime } from '@muster/core/testing'
import { asc, eq } from 'drizzle-orm'
import pg from 'pg'
import { executeRun } from '../ansible/execute-run.ts'
import type { ExecutorConfig } from '../ansible/execution.ts'
import { type Isolation, noIsolation } from '../ansible/isolation/isolation.ts'

const PLAYBOOKS = fileURLToPath(new URL('../../../../playbooks', import.meta.url))

/** The ansible-playbook of this set-up; `npm test` names it. */
export function realAnsible(): string {
  const path = process.env.ANSIBLE_PLAYBOOK
  if (!path)
    throw new Error('ANSIBLE_PLAYBOOK is not set: run the tests with `npm test`, or give the path of an ansible-playbook')
  return path
}

export type Told = { run: JobRun; hosts: JobRunHost[]; events: JobRunEvent[]; log: string }

/** A database, a tenant, a work directory and playbooks of one's own, and what a worker does with a run. */
export async function runWorld(overrides: Partial<ExecutorConfig> & { ANSIBLE_PLAYBOOK: string }) {
  const test = await testRuntime({ notify: 'real' })
  const listener = await createListener(test.url, test.runtime.log)
  const cast: Cast = await test.given.tenant()
  const root = await mkdtemp(join(tmpdir(), 'muster-runs-'))
  const playbooks = join(root, 'playbooks')
  const config: ExecutorConfig = {
    ANSIBLE_WORK_DIR: join(root, 'work'),
    ANSIBLE_PLAYBOOK_REPO_PATH: PLAYBOOKS,
    JOB_CANCEL_GRACE_PERIOD: 8,
    SSH_TIMEOUT: 10,
    ARTIFACT_MAX_SIZE: 1,
    ...overrides,
  }
  const store = localStore(join(root, 'artifacts'))
  const { db } = test.runtime
  const stopping = new AbortController()
  // Tests read while they cut connections.
  const read = (id: string): Promise<Told> => patiently(() => readOnce(id), { everyMs: 50 })
  const readOnce = async (id: string): Promise<Told> => {
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
    ...cast,
    listener,
    config,
    store,
    isolation: noIsolation(null) as Isolation,
    stopping,
    storePatienceMs: undefined as number | undefined,
    read,
    /** A template whose playbook is `text`. */
    async template(name: string, text: string, columns: Partial<typeof schema.jobTemplates.$inferInsert> = {}): Promise<string> {
      if (config.ANSIBLE_PLAYBOOK_REPO_PATH !== playbooks) {
        await symlink(join(PLAYBOOKS, '../packages'), join(root, 'packages'))
        // Copies: a playbook that is a link out of its folder is refused.
        await cp(PLAYBOOKS, playbooks, { recursive: true })
        config.ANSIBLE_PLAYBOOK_REPO_PATH = playbooks
      }
      await writeFile(join(playbooks, `${name}.yml`), text)
      await db.insert(schema.jobTemplates).values({
        tenantId: cast.tenant.id,
        name,
        displayName: name,
        category: 'custom',
        playbookPath: `${name}.yml`,
        // Runs that are left in the middle here would keep their nodes locked; locks are tried elsewhere.
        isReadOnly: true,
        ...columns,
      })
      return name
    },
    /** Let the worker take a run; resolves when it is through with it. */
    async take(id: string): Promise<Told> {
      const token = randomUUID()
      const claim = await patiently(() => claimJobRun(cast.worker, { id, workerId: 'worker-1', token }))
      if (claim)
        await executeRun(
          {
            config,
            store,
            isolation: this.isolation,
            storePatienceMs: this.storePatienceMs,
            listener,
            stopping: stopping.signal,
          },
          cast.worker,
          claim,
        )
      return read(id)
    },
    /** Start a run and let the worker take it. */
    async start(input: Parameters<typeof runJob>[1], as: Ctx = cast.operator): Promise<{ id: string; done: Promise<Told> }> {
      const run = await runJob(as, input)
      return { id: run.id, done: this.take(run.id) }
    },
    /** What a restart of Postgres does to everybody: all connections to this database end. */
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
export type RunWorld = Awaited<ReturnType<typeof runWorld>>
