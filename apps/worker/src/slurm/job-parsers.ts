import { createJobParser, type JobParser } from '@muster/slurm'

/** Longer than the longest time between two refreshes. */
const MAX_IDLE_MS = 20 * 60_000

/** Returns the parser of the jobs of a cluster. Those of clusters that are no longer refreshed here are dropped, with their jobs. */
export function createJobParsers(now: () => number = Date.now): (clusterId: string) => JobParser {
  const parsers = new Map<string, { parse: JobParser; usedAt: number }>()
  return (clusterId) => {
    for (const [id, { usedAt }] of parsers) if (now() - usedAt > MAX_IDLE_MS) parsers.delete(id)
    const parse = parsers.get(clusterId)?.parse ?? createJobParser()
    parsers.set(clusterId, { parse, usedAt: now() })
    return parse
  }
}
