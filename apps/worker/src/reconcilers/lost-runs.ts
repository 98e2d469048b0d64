import type { Runtime } from '@muster/core/context'
import { endLostJobRuns } from '@muster/core/jobs'

/** How often to look, in ms: with the 30 s that a run may go untouched, a lost run is over within 40 s. */
export const LOST_RUNS_EVERY_MS = 10_000

/** End runs whose worker is gone. Any number of workers may do this at once. */
export async function endLostRuns(runtime: Runtime): Promise<void> {
  const counts = await endLostJobRuns(runtime)
  if (counts.ended + counts.retried + counts.reminded > 0) runtime.log.warn(counts, 'runs without a living worker')
}
