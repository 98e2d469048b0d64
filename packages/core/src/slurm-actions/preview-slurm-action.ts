import { actionArguments, commandGroups, slurmWordProblem, targetKind } from '@muster/slurm/commands'
import type { z } from 'zod'
import type { SlurmCluster } from '../clusters/tables.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { type DeniedTarget, permittedTargets } from './authorize-action.ts'
import { actionOf, checkFields, StartSlurmActionInput } from './input.ts'
import { slurmVerbPermission } from './permissions.ts'
import { findCluster, findTargets, fingerprintOf, type SlurmTarget, withRunningJobs } from './targets.ts'

export type SlurmActionPreview = {
  cluster: SlurmCluster
  targets: SlurmTarget[]
  /** Targets that match and that the caller may not change: the action leaves them out. */
  denied: DeniedTarget[]
  /** IDs of jobs that run on the nodes. */
  runningJobs: string[]
  /** The first commands, as a shell would show them. */
  commands: string[]
  commandCount: number
  /** For `startSlurmAction`. */
  fingerprint: string
}

const SHOWN_COMMANDS = 5

/**
 * Returns what an action would do, by the last refresh of its cluster. Nothing runs there.
 * @throws Forbidden; NotFound the cluster; Conflict it has no controller node; InvalidInput also when nothing matches
 */
export async function previewSlurmAction(ctx: Ctx, input: z.input<typeof StartSlurmActionInput>): Promise<SlurmActionPreview> {
  authorizeSomewhere(ctx, slurmVerbPermission(input.verb))
  const { idempotencyKey: _key, fingerprint: _fingerprint, reason, ...request } = parseInput(StartSlurmActionInput, input)
  checkFields(request)
  const action = actionOf(request, reason)
  const cluster = await findCluster(ctx.db, ctx, request.clusterId)
  const all = await findTargets(ctx.db, cluster, request, action)
  const { targets: found, denied } = await permittedTargets(ctx.db, ctx, cluster, request, all)
  const targets = targetKind(action.verb) === 'node' ? await withRunningJobs(ctx.db, cluster, found) : found
  const usable = targets.map(({ target }) => target).filter((target) => !slurmWordProblem(targetKind(action.verb), target))
  const groups = commandGroups(action, usable)
  return {
    cluster,
    targets,
    denied,
    runningJobs: [...new Set(targets.flatMap(({ runningJobs }) => runningJobs))],
    commands: groups.slice(0, SHOWN_COMMANDS).map((group) => actionArguments(action, group).join(' ')),
    commandCount: groups.length,
    fingerprint: fingerprintOf(request, targets),
  }
}
