import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id, Ids, multilineText } from '../../kernel/input.ts'
import { selectNodes } from '../../selection/index.ts'
import { assertSandboxFor } from '../../workers/index.ts'
import { jobRunAudit } from '../audit-actions.ts'
import { jobRunChanged } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { retryBlockedReason } from '../policy.ts'
import { insertSlurmRun } from '../slurm/insert-slurm-run.ts'
import { type HostResult, type JobRun, jobRunHosts, jobRuns } from '../tables.ts'
import { assertRunnable } from './assert-runnable.ts'
import { authorizeRun } from './authorize-run.ts'
import { insertRun } from './insert-run.ts'
import { settingsOfRun } from './run-settings.ts'

export const RETRIES = ['FAILED', 'UNREACHABLE', 'NOT_RUN', 'OFFLINE'] as const

export const RetryJobRunInput = z.object({
  id: Id,
  hosts: z
    .array(z.enum(RETRIES))
    .min(1, 'name at least one result, or omit the field')
    .max(3, 'at most 3')
    .default(['FAILED', 'UNREACHABLE']),
  nodeIds: Ids.refine((ids) => ids.length > 0, 'name at least one node').nullish(),
  reason: multilineText(1000).nullish(),
  /** Runs on nodes with an OFFLINE agent too. */
  includeOffline: z.boolean().nullish(),
  idempotencyKey: IdempotencyKey,
})

const RESULTS: Record<(typeof RETRIES)[number], HostResult[]> = {
  FAILED: ['FAILED', 'INTERRUPTED'],
  UNREACHABLE: ['UNREACHABLE'],
  NOT_RUN: ['NOT_RUN'],
  OFFLINE: ['OFFLINE'],
}

/**
 * Starts a run with the same settings on hosts of an earlier run: failed or interrupted ones, unreachable ones, unreached
 * ones, or chosen ones. The new run records the earlier one as its parent.
 * @throws Conflict when the run is unfinished, when all its hosts succeeded, or when no host is left to retry
 * @throws InvalidInput at nodeIds for nodes that were not in the run or cannot be used
 */
export async function retryJobRun(ctx: Ctx, input: z.input<typeof RetryJobRunInput>): Promise<JobRun> {
  authorizeSomewhere(ctx, jobRunPermissions.start)
  const { id, hosts: which, nodeIds, reason, includeOffline, idempotencyKey } = parseInput(RetryJobRunInput, input)
  const request = { id, hosts: which, nodeIds: nodeIds?.toSorted(), reason, includeOffline }
  return idempotent(
    ctx,
    { verb: 'retryJobRun', key: idempotencyKey, input: request, result: oneRow(jobRuns) },
    async (tx, ctx) => {
      const [parent] = await tx
        .select()
        .from(jobRuns)
        .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id)))
        .for('share')
      if (!parent) throw new NotFound(`There is no run ${id}.`)
      const blockedReason = retryBlockedReason(ctx.actor, parent)
      if (blockedReason) throw new Conflict(`The run ${id} cannot be retried. ${blockedReason}`)
      const hosts = await tx.select().from(jobRunHosts).where(eq(jobRunHosts.jobRunId, id)).orderBy(jobRunHosts.name)
      const wanted = which.flatMap((each) => RESULTS[each])
      const chosen = nodeIds ?? hosts.flatMap((host) => (wanted.includes(host.result) ? (host.nodeId ?? []) : []))
      const known = new Set(hosts.map((host) => host.nodeId))
      if (chosen.some((nodeId) => !known.has(nodeId)))
        throw new InvalidInput([{ path: 'nodeIds', message: `the run ${id} was not on all of these nodes` }])
      if (chosen.length === 0)
        throw new Conflict(
          `None of the hosts of the run ${id} ${which.map((each) => NONE[each]).join(' or ')}, or their nodes are gone; ${
            hosts.some((host) => host.result === 'NOT_RUN') ? 'choose those that were not run, or ' : ''
          }specify the nodes to retry.`,
        )
      const selected = await selectNodes(ctx, chosen, tx)
      const template = { id: parent.templateId, name: parent.templateName, gitCredentialId: parent.gitCredentialId }
      await authorizeRun(tx, ctx, template, selected)
      const settings = { ...settingsOfRun(parent), includeOffline: includeOffline ?? false }
      const options = { ...settings, drainsItself: parent.slurm !== null }
      const { nodes, skipped } = await assertRunnable(ctx, tx, selected, 'nodeIds', options)
      await assertSandboxFor(tx, parent.source)
      const retry = {
        ...settings,
        parentRunId: parent.id,
        attempt: parent.attempt + 1,
        reason: reason ?? null,
      }
      const run = parent.slurm
        ? await insertSlurmRun(tx, ctx, retry, nodes, parent.slurm, skipped)
        : await insertRun(tx, ctx, retry, nodes, skipped)
      await audit(tx, ctx, jobRunAudit.retry, { id: run.id, name: run.templateName }, { parent: parent.id, hosts: nodes.length })
      ctx.notify(jobRunChanged({ id: run.id, tenantId: ctx.tenantId }))
      ctx.notify(jobRunChanged({ id: parent.id, tenantId: ctx.tenantId }))
      return run
    },
  )
}

const NONE: Record<(typeof RETRIES)[number], string> = {
  FAILED: 'failed',
  UNREACHABLE: 'was unreachable',
  NOT_RUN: 'was not run',
  OFFLINE: 'was skipped',
}
