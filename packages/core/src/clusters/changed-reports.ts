import { hash } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmJobs, slurmNodes } from './tables.ts'

/** Of reports that are kept between refreshes, such as those of `createJobParser`, or computed before they are compared. */
const digests = new WeakMap<object, string>()

function digestOf(report: object): string {
  const digest = digests.get(report) ?? hash('sha1', JSON.stringify(report), 'base64')
  digests.set(report, digest)
  return digest
}

/** Computes the hashes of reports, to compare them later. */
export function digestReports<T extends object>(reports: T[]): T[] {
  reports.forEach(digestOf)
  return reports
}

/** Hashes by NodeName and by job ID. */
export type StoredReports = { nodes: ReadonlyMap<string, string | null>; jobs: ReadonlyMap<string, string | null> }

/** Reads the hashes of the stored nodes and jobs. They stay while the caller has the claim of the cluster. */
export async function readStoredReports(ctx: Ctx, { id }: { id: string }): Promise<StoredReports> {
  authorize(ctx, slurmClusterPermissions.report)
  const read = async (table: typeof slurmNodes | typeof slurmJobs) => {
    const key = table === slurmNodes ? slurmNodes.name : slurmJobs.jobId
    // One row, because thousands take longer to decode.
    const [stored] = await ctx.db
      .select({
        keys: sql<string[]>`coalesce(json_agg(${key}), '[]')`,
        digests: sql<(string | null)[]>`coalesce(json_agg(${table.digest}), '[]')`,
      })
      .from(table)
      .where(and(visibleTo(ctx, table), eq(table.clusterId, id)))
    return new Map(stored!.keys.map((key, i) => [key, stored!.digests[i]!]))
  }
  return { nodes: await read(slurmNodes), jobs: await read(slurmJobs) }
}

export type ChangedReport<T> = { key: string; report: T; digest: string }

/**
 * Compares reports of a refresh with the stored ones by their hashes. Of thousands of nodes and jobs, few change between two refreshes;
 * only those are sent to the database.
 * @param reports by the sanitized name of the node or ID of the job; their texts are sanitized here
 * @returns new and changed reports, and the keys of stored ones that are not reported any more
 */
export function changedReports<T extends object>(
  stored: ReadonlyMap<string, string | null>,
  reports: ReadonlyMap<string, T>,
): { changed: ChangedReport<T>[]; gone: string[] } {
  const changed: ChangedReport<T>[] = []
  for (const [key, report] of reports) {
    const digest = digestOf(report)
    if (stored.get(key) !== digest) changed.push({ key, report: sanitizeForPostgres(report), digest })
  }
  return { changed, gone: [...stored.keys()].filter((key) => !reports.has(key)) }
}
