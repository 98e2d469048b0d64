import { createHash } from 'node:crypto'
import {
  type ConfigDiff,
  type ConfigFiles,
  type ConfigPlan,
  type ConfigProblem,
  checkConfig,
  diffConfig,
  planConfig,
} from '@muster/slurm/config'
import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../kernel/context.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { type ConfigHost, configHosts, type FileChange, findCluster } from './find-cluster.ts'
import { lostLiveChanges } from './live-changes.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { reusedConfigReason, scaledNodesReason } from './policy.ts'
import type { SlurmConfigVersion } from './tables.ts'
import { type ConfigValidation, lastValidation } from './validate-slurm-config.ts'
import {
  applyChanges,
  ConfigChangesInput,
  ConfigFilesInput,
  findConfigVersion,
  newErrors,
  releaseOf,
  rolledOutVersion,
} from './versions.ts'

export const PreviewSlurmConfigInput = z.object({
  clusterId: Id,
  /** The version to preview. Or: */
  number: z.int().min(1).nullish(),
  /** Text that is not saved yet. */
  files: ConfigFilesInput.nullish(),
  /** Changes of the version. */
  changes: ConfigChangesInput.nullish(),
})

export type SlurmConfigPreview = {
  cluster: SlurmCluster
  /** The version that the hosts have; null before the first rollout of an imported configuration. */
  from: SlurmConfigVersion | null
  /** Release of Slurm by which it is judged. */
  release: string
  problems: ConfigProblem[]
  diff: ConfigDiff[]
  plan: ConfigPlan
  /** Names of the hosts that get the files, in this order. */
  hosts: string[]
  /** Why it cannot be rolled out; null when it can. */
  blockedReason: string | null
  /** The last trial start of slurmctld with this version; null when there was none. */
  validation: ConfigValidation | null
  /** For `rolloutSlurmConfig`; null for text that is not saved. */
  fingerprint: string | null
}

/**
 * Returns what a version, or an edited text, would change on a cluster. Nothing is stored or started.
 * @throws Forbidden; NotFound the cluster or the version; Conflict it has no controller node; InvalidInput
 */
export async function previewSlurmConfig(ctx: Ctx, input: z.input<typeof PreviewSlurmConfigInput>): Promise<SlurmConfigPreview> {
  authorizeSomewhere(ctx, slurmConfigPermissions.check)
  const { clusterId, number, files, changes } = parseInput(PreviewSlurmConfigInput, input)
  if ((number == null) === (files == null))
    throw new InvalidInput([{ path: 'number', message: 'or files is required, not both' }])
  const cluster = await findCluster(ctx.db, ctx, clusterId)
  authorizeCluster(ctx, slurmConfigPermissions.check, cluster)
  if (number == null) return previewOf(ctx.db, ctx, cluster, { files: files as ConfigFiles, number: null })
  const version = await findConfigVersion(ctx.db, cluster, number)
  return changes
    ? previewOf(ctx.db, ctx, cluster, { files: applyChanges(version.files, changes), number: null })
    : previewOf(ctx.db, ctx, cluster, version)
}

export async function previewOf(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  cluster: SlurmCluster,
  to: { files: ConfigFiles; number: number | null },
): Promise<SlurmConfigPreview> {
  const release = releaseOf(cluster)
  const from = await rolledOutVersion(db, cluster)
  const fromFiles = from?.files ?? { 'slurm.conf': '' }
  const plan = planConfig(fromFiles, to.files, release)
  const live =
    plan.controllers === 'NONE'
      ? { lost: [], blockedReason: null }
      : await lostLiveChanges(db, cluster, { from: from?.files ?? null, to: to.files, removedNodes: plan.removedNodes })
  const [error] = newErrors(from?.files ?? null, to.files, release)
  const { hosts, unknownController } = await hostsAfter(db, ctx, cluster, { from: from?.files ?? null, to: to.files })
  return {
    cluster,
    from,
    release,
    problems: checkConfig(to.files, release),
    diff: diffConfig(from?.files ?? {}, to.files),
    plan: { ...plan, lost: [...plan.lost, ...live.lost] },
    hosts: hosts.map(({ name }) => name),
    blockedReason:
      reusedConfigReason(cluster) ??
      (from === null ? 'The configuration was not imported yet.' : null) ??
      (error ? `It has errors, the first in ${error.file}: ${error.message}` : null) ??
      scaledNodesReason(cluster, plan) ??
      live.blockedReason ??
      unknownController,
    validation: to.number === null ? null : await lastValidation(db, cluster, to.number),
    fingerprint: to.number === null ? null : fingerprintOf(cluster, from?.number ?? null, to.number, plan),
  }
}

/** Without the controllers that a version adds, when one of them is no node that the caller may use. */
async function hostsAfter(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  cluster: SlurmCluster,
  change: FileChange,
): Promise<{ hosts: ConfigHost[]; unknownController: string | null }> {
  const { check } = slurmConfigPermissions
  const hosts = await configHosts(db, ctx, cluster, check)
  try {
    return { hosts: await configHosts(db, ctx, cluster, check, change), unknownController: null }
  } catch (error) {
    if (error instanceof Conflict) return { hosts, unknownController: error.message }
    throw error
  }
}

/** Changes when what a rollout does is another than the caller has seen. */
export const fingerprintOf = ({ id }: Pick<SlurmCluster, 'id'>, from: number | null, to: number, plan: ConfigPlan): string =>
  createHash('sha256')
    .update(JSON.stringify([id, from, to, plan.controllers, plan.nodes, plan.addedNodes, plan.removedNodes]))
    .digest('hex')
    .slice(0, 24)
