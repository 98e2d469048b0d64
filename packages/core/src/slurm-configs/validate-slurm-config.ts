import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { insertOperation, type SlurmOperation } from '../slurm-operations/index.ts'
import { slurmOperationNodes, slurmOperations } from '../slurm-operations/tables.ts'
import { configHosts, findCluster } from './find-cluster.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { noConfigReason } from './policy.ts'
import { findConfigVersion } from './versions.ts'

export const ValidateSlurmConfigInput = z.object({ clusterId: Id, number: z.int().min(1), idempotencyKey: IdempotencyKey })

/**
 * Starts an operation that lets the slurmctld of the controller's host start with a version, apart from the running one. It changes
 * nothing.
 * @throws Forbidden; NotFound the cluster or the version; Conflict the configuration was not imported, or an operation runs on the cluster
 */
export async function validateSlurmConfig(ctx: Ctx, input: z.input<typeof ValidateSlurmConfigInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmConfigPermissions.check)
  const { idempotencyKey, ...fields } = parseInput(ValidateSlurmConfigInput, input)
  const key = { verb: 'validateSlurmConfig', key: idempotencyKey, input: fields, result: oneRow(slurmOperations) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await findCluster(tx, ctx, fields.clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.check, cluster)
    const blockedReason = noConfigReason(cluster)
    if (blockedReason) throw new Conflict(blockedReason)
    const { number } = await findConfigVersion(tx, cluster, fields.number)
    const [controller] = await configHosts(tx, ctx, cluster, slurmConfigPermissions.check)
    return insertOperation(tx, ctx, {
      clusterId: cluster.id,
      kind: 'CONFIGURE',
      input: { action: 'VALIDATE', number },
      plan: {},
      reason: `try version ${number} of the configuration`,
      nodes: [controller!],
    })
  })
}

/** ACCEPTED: slurmctld started. REFUSED: it ended with an error. SKIPPED: it could not be tried. */
export const CONFIG_VALIDATION_STATES = ['ACCEPTED', 'REFUSED', 'SKIPPED'] as const

/** A trial start of slurmctld with a version, apart from the running one. `message` is null when it started. */
export type ConfigValidation = {
  state: (typeof CONFIG_VALIDATION_STATES)[number]
  host: string
  message: string | null
  validatedAt: Date
}

/** The last trial of a version, by itself or at the beginning of a rollout. */
export async function lastValidation(
  db: Tx | Ctx['db'],
  { id }: Pick<SlurmCluster, 'id'>,
  number: number,
): Promise<ConfigValidation | null> {
  const { input } = slurmOperations
  const [row] = await db
    .select({
      state: slurmOperationNodes.phase,
      host: slurmOperationNodes.name,
      message: slurmOperationNodes.message,
      validatedAt: sql`coalesce(${slurmOperations.finishedAt}, ${slurmOperations.createdAt})`.mapWith(slurmOperations.createdAt),
    })
    .from(slurmOperations)
    .innerJoin(slurmOperationNodes, eq(slurmOperationNodes.operationId, slurmOperations.id))
    .where(
      and(
        eq(slurmOperations.clusterId, id),
        eq(slurmOperations.kind, 'CONFIGURE'),
        sql`coalesce(${input} ->> 'number', ${input} ->> 'to') = ${String(number)}`,
        inArray(slurmOperationNodes.phase, [...CONFIG_VALIDATION_STATES]),
      ),
    )
    .orderBy(desc(slurmOperations.id))
    .limit(1)
  return (row as ConfigValidation | undefined) ?? null
}
