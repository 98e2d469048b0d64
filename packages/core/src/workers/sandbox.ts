import { sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { Conflict } from '../kernel/errors.ts'
import { WORKER_GONE_AFTER_SECONDS } from './policy.ts'
import { type Worker, workers } from './tables.ts'

/** Where a playbook comes from. Shipped playbooks are installed by who runs the worker; users write the others. */
type PlaybookSource = 'shipped' | 'bundle' | 'git'

const NEXT_STEP =
  'Install bubblewrap on the worker and restart it, or set ANSIBLE_ISOLATION=none there to run such playbooks with all permissions of the worker.'

/** Null when a worker with this isolation may run playbooks of the source, else the reason with the next step. */
export function noSandboxReason(
  { name, isolation, isolationWeakness }: Pick<Worker, 'name' | 'isolation'> & { isolationWeakness?: string | null },
  source: PlaybookSource,
): string | null {
  if (source === 'shipped' || isolation !== 'unavailable') return null
  const from = source === 'git' ? 'a git repository' : 'a bundle'
  const why = isolationWeakness ? ` (${isolationWeakness})` : ''
  return `A playbook from ${from} needs a sandbox, and the worker ${name} has none${why}. ${NEXT_STEP}`
}

/**
 * Asserts that a worker may run playbooks of the source. Without any active worker the run waits, and the worker that claims it checks.
 * @throws Conflict when every active worker lacks a sandbox
 */
export async function assertSandboxFor(db: Db | Tx, source: PlaybookSource): Promise<void> {
  if (source === 'shipped') return
  const active = await db
    .select({ name: workers.name, isolation: workers.isolation, isolationWeakness: workers.isolationWeakness })
    .from(workers)
    .where(sql`${workers.lastSeenAt} > now() - make_interval(secs => ${WORKER_GONE_AFTER_SECONDS})`)
  const reasons = active.map((worker) => noSandboxReason(worker, source))
  if (reasons.length > 0 && reasons.every((reason) => reason !== null)) throw new Conflict(reasons[0]!)
}
