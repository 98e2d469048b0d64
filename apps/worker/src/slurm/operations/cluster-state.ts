import { setTimeout } from 'node:timers/promises'
import { expandHostlist } from '@muster/core/selection'
import { hasEnded, parseJobs, parseNodes, parseVersion, type SlurmNode } from '@muster/slurm'
import { readAccount, sudoBlockedReason, withSudo } from '../account-rights.ts'
import { runCommand } from '../run-command.ts'
import { QueryFailure, runQuery } from '../run-query.ts'
import { type ControllerContext, type OperationContext, OperationFailure } from './operation.ts'

export type ClusterNodes = {
  version: string
  nodes: Map<string, SlurmNode>
  /** IDs of jobs by node. */
  jobs: Map<string, string[]>
}

const POLL_MS = 2000

/** Reads nodes and jobs from the controller. @throws OperationFailure */
export async function readClusterNodes(op: Pick<OperationContext, 'slurm'>): Promise<ClusterNodes> {
  return op.slurm(async (controller) => {
    const context = { ...controller, onReport() {} }
    const version = await runQuery({ ...context, version: null }, 'version', parseVersion, String)
    const known = { ...context, version }
    const nodes = await runQuery(known, 'nodes', (output) => parseNodes(output), String)
    const jobs = await runQuery(known, 'jobs', (output, nonce) => parseJobs(output, { nonce }), String)
    const byNode = new Map<string, string[]>()
    for (const job of jobs.filter((job) => job.nodes && job.states[0] !== 'PENDING' && !hasEnded(job)))
      for (const name of expandHostlist(job.nodes)) byNode.set(name, [...(byNode.get(name) ?? []), String(job.id)])
    return { version: version ?? 'unknown', nodes: new Map(nodes.map((node) => [node.name, node])), jobs: byNode }
  })
}

/** Repeats `look` until it returns something else than null. A silent controller is asked again. */
export async function pollCluster<T>(
  op: OperationContext,
  until: Date,
  look: (now: ClusterNodes) => Promise<T | null>,
): Promise<T | null> {
  for (;;) {
    try {
      const found = await look(await readClusterNodes(op))
      if (found !== null) return found
    } catch (error) {
      op.signal.throwIfAborted()
      // slurmctld may be restarting.
      if (!(error instanceof QueryFailure || error instanceof OperationFailure) || Date.now() > until.getTime()) throw error
    }
    if (Date.now() > until.getTime()) return null
    await setTimeout(POLL_MS, null, { signal: op.signal }).catch(() => {})
    op.signal.throwIfAborted()
  }
}

/**
 * Runs a command as root on the controller: of the accounts that log in, Slurm obeys only root and SlurmUser. Repeats it when the
 * connection fails: for other commands, use `asRoot` together with what makes them repeatable.
 * @throws OperationFailure Slurm refused it, or did not answer
 */
export const runAsRoot = (op: OperationContext, argv: readonly string[], timeoutMs?: number): Promise<string> =>
  op.slurm((controller) => asRoot({ ...controller, ...(timeoutMs ? { timeoutMs } : {}) }, argv))

/** Runs a command as root over an open session. @throws OperationFailure like `runAsRoot`; SshFailure */
export async function asRoot(controller: ControllerContext, argv: readonly string[]): Promise<string> {
  const account = await readAccount(controller)
  const blockedReason = account.isRoot ? null : sudoBlockedReason(account)
  if (blockedReason !== null) throw new OperationFailure(`\`${argv.join(' ')}\` was not run. ${blockedReason}`)
  const ran = await runCommand(controller, account.isRoot ? argv : withSudo(account, argv))
  if (ran.answer !== 'ACCEPTED') throw new OperationFailure(`\`${argv.join(' ')}\` failed: ${ran.text}`)
  return ran.text ?? ''
}
