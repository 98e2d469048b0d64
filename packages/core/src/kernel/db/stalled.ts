import { and, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { sqlSeconds } from './sql-time.ts'

/** Time columns of a table of work that workers claim and finish. */
type WorkTable = { createdAt: AnyPgColumn; startedAt: AnyPgColumn; finishedAt: AnyPgColumn }

/** Time in seconds that work may wait for a worker; whole minutes. */
const WAITING_S = 3600

/** Condition that no worker claimed the work within `waitingS` seconds, or that it has run longer than `runningS` seconds. */
export const isStalled = (
  { createdAt, startedAt, finishedAt }: WorkTable,
  runningS: number,
  waitingS = WAITING_S,
): SQL | undefined =>
  and(
    isNull(finishedAt),
    or(
      lt(startedAt, sql`now() - ${sqlSeconds(runningS)}`),
      and(isNull(startedAt), lt(createdAt, sql`now() - ${sqlSeconds(waitingS)}`)),
    ),
  )

/** Why stalled work failed. @param what the work in a sentence, for example `the test`; a constant */
export const stalledReason = ({ startedAt }: WorkTable, what: string, waitingS = WAITING_S): SQL =>
  sql`case when ${startedAt} is null then ${`No worker started ${what} within ${waitingS / 60} minutes. Check that a worker runs, then try again.`}::text
    else ${`The worker was lost during ${what}. Try again.`}::text end`
