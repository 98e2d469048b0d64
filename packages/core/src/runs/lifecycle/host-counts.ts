import { type SQL, sql } from 'drizzle-orm'
import { jobRunHosts, jobRuns } from '../tables.ts'

const count = (...results: string[]): SQL<number> =>
  sql`(select count(*) from ${jobRunHosts} h where h.job_run_id = ${jobRuns.id} and h.result = any(${sql.param(results)}::text[]))`

/** The counter columns of a run, recomputed from its hosts. Running hosts are not counted. */
export const hostCounts = {
  hostsOk: count('OK', 'CHANGED', 'SKIPPED'),
  hostsFailed: count('FAILED'),
  hostsUnreachable: count('UNREACHABLE'),
}
