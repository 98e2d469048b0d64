import type { Ctx } from '@muster/core/context'
import { openRunSecrets } from '@muster/core/credentials/access'
import { type Claim, finishJobRun } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'
import { nodeAccess } from '../node-access.ts'
import { type Deps, Execution } from './execution.ts'
import { planRun } from './plan-run.ts'
import { createRunDirectory } from './run-directory.ts'
import { resolveRunVars } from './run-vars.ts'

/**
 * Execute a claimed run from beginning to end: whatever happens, its processes, connections and directory are gone when this
 * resolves, and its row says how it ended, unless it has become another worker's.
 */
export async function executeRun(deps: Deps, context: Ctx, claim: Claim): Promise<void> {
  const began = performance.now()
  const { run, token, hosts } = claim
  const ctx: Ctx = { ...context, log: context.log.child({ run: run.id }) }
  const workDir = deps.config.ANSIBLE_WORK_DIR
  const nodeIds = hosts.flatMap((host) => host.nodeId ?? [])
  const [access, secrets, vars, directory] = await Promise.allSettled([
    nodeAccess(ctx, nodeIds),
    patiently(() => openRunSecrets(ctx, run.secretsId)),
    patiently(() => resolveRunVars(ctx, run, nodeIds)),
    createRunDirectory(workDir, run.id, deps.isolation.user()),
  ])
  if (
    access.status === 'fulfilled' &&
    secrets.status === 'fulfilled' &&
    vars.status === 'fulfilled' &&
    directory.status === 'fulfilled'
  )
    try {
      const isIsolated = deps.isolation.mode !== 'none'
      const plan = planRun(hosts, access.value, secrets.value, vars.value, isIsolated)
      return await new Execution(deps, ctx, claim, plan, directory.value).carryOut(began)
    } finally {
      await directory.value.remove().catch((err) => ctx.log.error({ err }, 'cannot remove the directory of a run'))
    }
  if (directory.status === 'fulfilled') await directory.value.remove()
  const failures = [access, secrets, vars, directory].flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  for (const err of failures) ctx.log.error({ err }, 'cannot prepare the run')
  const said =
    access.status === 'rejected' || secrets.status === 'rejected' || vars.status === 'rejected'
      ? 'The credentials or variables could not be read.'
      : `No directory could be made in ${workDir}.`
  const error = `${said} The log of the worker ${run.claimedBy} says more.`
  await patiently(() => finishJobRun(ctx, { id: run.id, token, hosts: [], endedBy: 'error', error, said }))
}
