import { ACCOUNTING_NAME, FINISHED_STATES, foldHostlist, JOB_ID, USER_NAME } from '@muster/slurm'
import { z } from 'zod'
import { tenantPermissions } from '../../access/permissions.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { InvalidInput, parseInput } from '../../kernel/errors.ts'
import { Id, singleLineText } from '../../kernel/input.ts'
import { expandHostlist } from '../../selection/index.ts'
import { type SlurmLookup, type SlurmLookupCursor, type SlurmLookupRequest, slurmLookups } from '../tables.ts'
import { findLookupCluster, insertLookup } from './insert-lookup.ts'

const MAX_NAMES = 100
const MAX_LIMIT = 500
const DEFAULT_LIMIT = 100
const DEFAULT_SINCE_SECONDS = 30 * 86_400

const namesOf = (form: RegExp) =>
  z.array(z.string().regex(form, 'must be names without spaces and commas')).max(MAX_NAMES, `at most ${MAX_NAMES}`)
const State = z
  .string()
  .transform((word) => word.toUpperCase())
  .pipe(z.enum(FINISHED_STATES, `must be one of ${FINISHED_STATES.join(', ')}`))
const Cursor = z
  .string()
  .regex(/^\d{1,11}(?:-\d{1,12})?$/, 'must be the cursor of a lookup')
  .transform((text): SlurmLookupCursor => {
    const [end, id] = text.split('-')
    return { endSeconds: Number(end), id: id === undefined ? null : Number(id) }
  })

/** The text of a cursor, for the next lookup. */
export const formatLookupCursor = ({ endSeconds, id }: SlurmLookupCursor): string =>
  id === null ? String(endSeconds) : `${endSeconds}-${id}`

export const LookUpSlurmJobsInput = z
  .object({
    clusterId: Id,
    /** One job with its steps; the other fields do not apply then. */
    jobId: z.string().regex(JOB_ID, 'must be a job ID: 15, 3_1 or 12+1').nullish(),
    user: namesOf(USER_NAME).nullish(),
    account: namesOf(ACCOUNTING_NAME).nullish(),
    partition: namesOf(ACCOUNTING_NAME).nullish(),
    state: z.array(State).max(FINISHED_STATES.length, `at most ${FINISHED_STATES.length}`).nullish(),
    node: singleLineText(2000).nullish(),
    /** When they ended. */
    since: z.date().nullish(),
    until: z.date().nullish(),
    after: Cursor.nullish(),
    limit: z.int().min(1).max(MAX_LIMIT).nullish(),
    idempotencyKey: IdempotencyKey,
  })
  .refine(({ since, until }) => !since || !until || since < until, { path: ['since'], message: 'must be before `until`' })

/**
 * Reads finished jobs from the accounting of a cluster, newest first, or one job with its steps. A worker runs sacct; nothing changes there.
 * @throws NotFound; Conflict it has no controller node, or too many lookups have not finished; InvalidInput
 */
export async function lookUpSlurmJobs(ctx: Ctx, input: z.input<typeof LookUpSlurmJobsInput>): Promise<SlurmLookup> {
  authorize(ctx, tenantPermissions.read)
  const { idempotencyKey, ...fields } = parseInput(LookUpSlurmJobsInput, input)
  const request = requestOf(fields)
  const key = { verb: 'lookUpSlurmJobs', key: idempotencyKey, input: fields, result: oneRow(slurmLookups) }
  return idempotent(ctx, key, async (tx, ctx) =>
    insertLookup(tx, ctx, await findLookupCluster(tx, ctx, fields.clusterId), request),
  )
}

function requestOf(fields: Omit<z.output<typeof LookUpSlurmJobsInput>, 'idempotencyKey'>): SlurmLookupRequest {
  const { jobId, user, account, partition, state, node, since, until, after, limit } = fields
  if (jobId) return { kind: 'JOB', jobId }
  const untilSeconds = until ? Math.floor(until.getTime() / 1000) : null
  const end = untilSeconds ?? Math.floor(Date.now() / 1000)
  return {
    kind: 'FINISHED',
    filter: {
      ...{ users: user ?? [], accounts: account ?? [], partitions: partition ?? [], states: state ?? [] },
      hostlist: node ? hostlistOf(node) : null,
    },
    sinceSeconds: since ? Math.ceil(since.getTime() / 1000) : end - DEFAULT_SINCE_SECONDS,
    untilSeconds,
    after: after ?? null,
    limit: limit ?? DEFAULT_LIMIT,
  }
}

/** Converts a hostlist to the syntax that sacct accepts. @throws InvalidInput */
function hostlistOf(text: string): string {
  try {
    return foldHostlist(expandHostlist(text))
  } catch (error) {
    if (error instanceof InvalidInput) throw new InvalidInput(error.issues.map((issue) => ({ ...issue, path: 'node' })))
    throw error
  }
}
