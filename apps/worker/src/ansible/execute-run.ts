import type { Ctx } from '@muster/core/context'
import { decryptRunSecrets } from '@muster/core/credentials'
import { retryTransient } from '@muster/core/retry-transient'
import type { Claim } from '@muster/core/run-queue'
import { finishJobRun } from '@muster/core/runs'
import { noSandboxReason } from '@muster/core/workers'
import { runAccess } from '../node-access.ts'
import type { Deps } from './deps.ts'
import { Execution } from './execution.ts'
import { planRun } from './inventory/plan-run.ts'
import { resolveRunVars } from './inventory/run-vars.ts'
import { createRunDirectory } from './run-directory/run-directory.ts'

/**
 * Executes a claimed run from start to end. When this resolves, its processes, connections and directory are gone, and its row
 * records how it ended, unless another worker owns it by then.
 */
export async function executeRun(deps: Deps, context: Ctx, claim: Claim): Promise<void> {
  const began = performance.now()
  const { run, hosts } = claim
  const ctx: Ctx = { ...context, log: context.log.child({ run: run.id }) }
  const { isolation } = deps
  const lacksSandbox = noSandboxReason(
    { name: run.claimedBy!, isolation: isolation.mode, isolationWeakness: isolation.weakness },
    run.source,
  )
  if (lacksSandbox) return reject(ctx, claim, lacksSandbox, 'The worker has no sandbox for it.')
  const workDir = deps.config.ANSIBLE_WORK_DIR
  const user = isolation.user()
  const nodeIds = hosts.flatMap((host) => host.nodeId ?? [])
  const [access, secrets, vars, directory] = await Promise.allSettled([
    runAccess(ctx, deps.config.LOCAL_TARGETS, claim, nodeIds, deps.stopping),
    retryTransient(() => decryptRunSecrets(ctx, run.secretsId)),
    retryTransient(() => resolveRunVars(ctx, run, nodeIds)),
    createRunDirectory(workDir, run.id, user),
  ])
  if (
    access.status === 'fulfilled' &&
    secrets.status === 'fulfilled' &&
    vars.status === 'fulfilled' &&
    directory.status === 'fulfilled'
  )
    try {
      const isIsolated = isolation.mode === 'bubblewrap' || isolation.mode === 'uid'
      const plan = planRun(hosts, access.value, secrets.value, vars.value, isIsolated)
      return await new Execution(deps, ctx, claim, plan, directory.value).execute(began)
    } finally {
      await directory.value.remove().catch((err) => ctx.log.error({ err }, 'cannot remove the directory of a run'))
      isolation.release(user)
    }
  if (directory.status === 'fulfilled') await directory.value.remove()
  isolation.release(user)
  const failures = [access, secrets, vars, directory].flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  for (const err of failures) ctx.log.error({ err }, 'cannot prepare the run')
  const cause =
    access.status === 'rejected' || secrets.status === 'rejected' || vars.status === 'rejected'
      ? 'The credentials or variables could not be read.'
      : `No directory could be created in ${workDir}.`
  await reject(ctx, claim, `${cause} See the log of the worker ${run.claimedBy}.`, cause)
}

/** Ends a run before anything of it was started. */
async function reject(ctx: Ctx, { run, token }: Claim, error: string, lastLine: string): Promise<void> {
  await retryTransient(() => finishJobRun(ctx, { id: run.id, token, hosts: [], endCause: 'error', error, lastLine }))
}
