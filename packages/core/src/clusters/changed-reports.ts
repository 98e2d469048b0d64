import { createHash } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../kernel/context.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmJobs, slurmNodes } from './tables.ts'

/** Of reports that are kept between refreshes, such as those of `createJobParser`. */
const digests = new WeakMap<object, string>()

function digestOf(report: object): string {
  const digest = digests.get(report) ?? createHash('sha1').update(JSON.stringify(report)).digest('base64')
  digests.set(report, digest)
  return digest
}

export type ChangedReport<T> = { key: string; report: T; digest: string }

/**
 * Compares reports of a refresh with the stored ones by their hashes. Of thousands of nodes and jobs, few change between two refreshes;
 * only those are sent to the database.
 * @param reports by the sanitized name of the node or ID of the job; their texts are sanitized here
 * @returns new and changed reports, and the keys of stored ones that are not reported any more
 */
export async function changedReports<T extends object>(
  tx: Tx,
  table: typeof slurmNodes | typeof slurmJobs,
  clusterId: string,
  reports: ReadonlyMap<string, T>,
): Promise<{ changed: ChangedReport<T>[]; gone: string[] }> {
  const key = table === slurmNodes ? slurmNodes.name : slurmJobs.jobId
  // One value, because thousands of rows take longer to decode.
  const [stored] = await tx
    .select({ digests: sql<Record<string, string | null> | null>`json_object_agg(${key}, ${table.digest})` })
    .from(table)
    .where(eq(table.clusterId, clusterId))
  const left = new Map(Object.entries(stored?.digests ?? {}))
  const changed: ChangedReport<T>[] = []
  for (const [name, report] of reports) {
    const digest = digestOf(report)
    if (left.get(name) !== digest) changed.push({ key: name, report: sanitizeForPostgres(report), digest })
    left.delete(name)
  }
  return { changed, gone: [...left.keys()] }
}
