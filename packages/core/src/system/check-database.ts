import { asc, desc, sql } from 'drizzle-orm'
import { credentialKeys } from '../credentials/tables.ts'
import type { Db } from '../kernel/db/client.ts'
import { pendingMigrations } from '../kernel/db/migrate.ts'
import type { Finding, Observation } from '../kernel/finding.ts'
import { queueBacklogs } from '../kernel/queue.ts'
import { WORKER_GONE_AFTER_SECONDS } from '../workers/index.ts'
import { type Worker, workers } from '../workers/tables.ts'

const QUEUE_WARNING_SECONDS = 60
const QUEUE_ERROR_SECONDS = 600

/** Checks that read only the database: migrations, key versions, queue, and workers with the findings that they reported. */
export async function checkDatabase(db: Db): Promise<Finding[]> {
  const { rows } = await db.execute<{ version: string; now: Date }>(
    sql`select current_setting('server_version') as version, now() as now`,
  )
  const all = await db.select().from(workers).orderBy(asc(workers.id))
  const isAlive = ({ lastSeenAt }: Worker) =>
    new Date(rows[0]!.now).getTime() - lastSeenAt.getTime() <= WORKER_GONE_AFTER_SECONDS * 1000
  const alive = all.filter(isAlive)
  const observations: Observation[] = [
    { check: 'DATABASE', severity: 'OK', message: `Postgres ${rows[0]!.version} responds.`, nextStep: null },
    await checkMigrations(db),
    await checkKeys(db),
    await checkQueue(db),
    checkWorkers(alive),
  ]
  return [
    ...observations.map((one) => ({ ...one, source: 'database' })),
    ...alive.map(({ name, isolation, isolationWeakness }) => ({ ...checkIsolation(isolation, isolationWeakness), source: name })),
    ...alive.flatMap(({ name, findings }) => findings.map((one) => ({ ...one, source: name }))),
  ]
}

async function checkMigrations(db: Db): Promise<Observation> {
  const pending = await pendingMigrations(db)
  if (pending.length === 0) return { check: 'MIGRATIONS', severity: 'OK', message: 'The schema is up to date.', nextStep: null }
  return {
    check: 'MIGRATIONS',
    severity: 'ERROR',
    message: `Migrations are pending: ${pending.join(', ')}.`,
    nextStep: 'Restart with `npm start`, or run the service migrate of docker-compose.yml. Take a backup first.',
  }
}

async function checkKeys(db: Db): Promise<Observation> {
  const [key] = await db.select().from(credentialKeys).orderBy(desc(credentialKeys.version)).limit(1)
  const finding = (severity: Observation['severity'], message: string, nextStep: string | null): Observation => ({
    check: 'ENCRYPTION_KEY',
    severity,
    message,
    nextStep,
  })
  if (!key) return finding('ERROR', 'The database has no encryption key.', 'Start the API once with the master password.')
  if (key.version >= 250)
    return finding('WARNING', `Key version ${key.version} is near the maximum of 255.`, 'Rotate less often.')
  return finding('OK', `Secrets are encrypted with key version ${key.version}.`, null)
}

async function checkQueue(db: Db): Promise<Observation> {
  const backlogs = [...(await queueBacklogs(db))].sort(([, a], [, b]) => b.oldestSeconds - a.oldestSeconds)
  const [oldest] = backlogs
  if (!oldest || oldest[1].oldestSeconds < QUEUE_WARNING_SECONDS)
    return { check: 'QUEUE', severity: 'OK', message: 'No entry waits longer than a minute.', nextStep: null }
  const [name, { depth, oldestSeconds }] = oldest
  return {
    check: 'QUEUE',
    severity: oldestSeconds < QUEUE_ERROR_SECONDS ? 'WARNING' : 'ERROR',
    message: `${depth} entries of the queue ${name} wait; the oldest for ${Math.round(oldestSeconds)} s.`,
    nextStep:
      'Check that workers are alive and not drained (`muster worker list`) and read their logs; add workers if all are busy.',
  }
}

function checkWorkers(alive: Worker[]): Observation {
  const ready = alive.filter(({ drainedAt }) => drainedAt === null)
  const finding = (severity: Observation['severity'], message: string, nextStep: string | null): Observation => ({
    check: 'WORKERS',
    severity,
    message,
    nextStep,
  })
  if (alive.length === 0)
    return finding('ERROR', 'No worker is alive: runs, tests and discoveries wait.', 'Start a worker and read its log.')
  if (ready.length === 0)
    return finding('WARNING', 'All workers are drained: they start no runs.', 'Undrain one: `muster worker undrain NAME`.')
  const versions = [...new Set(alive.map(({ version }) => version))]
  if (versions.length > 1)
    return finding(
      'WARNING',
      `Workers of several versions are alive: ${versions.join(', ')}.`,
      'Restart the older ones with the new version.',
    )
  return finding('OK', `${ready.length} of ${alive.length} workers take work.`, null)
}

function checkIsolation(mode: Worker['isolation'], weakness: string | null): Observation {
  if (mode === 'none')
    return {
      check: 'ISOLATION',
      severity: 'ERROR',
      message: `Playbooks are not isolated from the worker's machine${weakness ? `: ${weakness}` : ''}.`,
      nextStep: 'Install bubblewrap on the worker and restart it; docs/operate.md, "Isolation of playbooks".',
    }
  if (mode === 'unavailable')
    return {
      check: 'ISOLATION',
      severity: 'WARNING',
      message: `The worker has no sandbox${weakness ? ` (${weakness})` : ''}: it rejects playbooks from bundles and git repositories.`,
      nextStep: 'Install bubblewrap on the worker and restart it.',
    }
  if (weakness)
    return {
      check: 'ISOLATION',
      severity: 'WARNING',
      message: `Playbooks are isolated by ${mode}: ${weakness}.`,
      nextStep: 'Install bubblewrap on the worker and restart it.',
    }
  return { check: 'ISOLATION', severity: 'OK', message: `Playbooks are isolated by ${mode}.`, nextStep: null }
}
