import { recordControllerConnection } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import { unapprovedHopReason } from '@muster/core/credentials'
import { DomainError } from '@muster/core/errors'
import { connectBlockedReason } from '@muster/core/nodes'
import { retryTransient } from '@muster/core/retry-transient'
import { slurmConnectionDuration } from '../metrics.ts'
import { nodeAccess } from '../node-access.ts'
import type { BastionPool } from '../ssh/bastion-pool.ts'
import type { Session } from '../ssh/exec.ts'
import { openSession } from '../ssh/open-session.ts'
import type { NodeConfig, WorkerDeps } from '../worker.ts'
import { QueryFailure } from './run-query.ts'

/** Longer than the pause between two refreshes. */
const IDLE_MS = 90_000
/** After it, credentials and host keys are read again. */
const MAX_AGE_MS = 600_000

type Deps = Pick<WorkerDeps<NodeConfig>, 'config' | 'stopping'> & { bastions: BastionPool }
/** What a handler needs to log in to controllers. */
export type ControllerLogin = Omit<WorkerDeps<NodeConfig>, 'listener'> & { bastions: BastionPool }
type Entry = { session: Session; openedAt: number; timer: NodeJS.Timeout }

/**
 * Opens a session on a controller's host.
 * @returns the session, and the login as a shell would show it
 * @throws QueryFailure Muster may not connect to the node; SshFailure it cannot
 */
export async function openController(
  ctx: Ctx,
  { config, bastions, stopping }: Deps,
  nodeId: string,
): Promise<{ session: Session; command: string }> {
  const access = (await nodeAccess(ctx, config.LOCAL_TARGETS, [nodeId])).get(nodeId)!
  if (access instanceof DomainError) throw new QueryFailure(access.message)
  const { node, hops } = access
  const blockedReason = connectBlockedReason(node) ?? unapprovedHopReason(hops)
  if (blockedReason) throw new QueryFailure(blockedReason)
  // Committed before the worker connects.
  await retryTransient(() => recordControllerConnection(ctx, { nodeId }))
  const end = slurmConnectionDuration.startTimer()
  const session = await openSession(access, { timeoutMs: config.SSH_TIMEOUT * 1000, bastions, signal: stopping }).catch(
    (error) => {
      end({ result: 'failed' })
      throw error
    },
  )
  end({ result: 'ok' })
  return { session, command: node.connectionType === 'ssh' ? `ssh -p ${node.port} ${node.host}` : 'sh' }
}

/** Sessions on controllers' hosts that stay open between refreshes, one per node. */
export type ControllerSessions = {
  /**
   * Runs `work` with a session on the node. A session that fails is closed.
   * @throws QueryFailure Muster may not connect to the node; SshFailure it cannot
   */
  use<T>(ctx: Ctx, nodeId: string, work: (session: Session) => Promise<T>): Promise<T>
  close(): void
}

export function createControllerSessions(deps: Deps): ControllerSessions {
  const { config, stopping } = deps
  const entries = new Map<string, Entry>()
  const drop = (nodeId: string) => {
    const entry = entries.get(nodeId)
    if (!entry) return
    clearTimeout(entry.timer)
    entries.delete(nodeId)
    entry.session.close()
  }
  const keep = (nodeId: string, session: Session, openedAt: number) => {
    clearTimeout(entries.get(nodeId)?.timer)
    const timer = setTimeout(() => drop(nodeId), IDLE_MS)
    timer.unref()
    entries.set(nodeId, { session, openedAt, timer })
  }
  // The host may have restarted since the last use; without this, the first command would fail or wait.
  async function isAlive(session: Session): Promise<boolean> {
    try {
      const { code } = await session.exec('exit 0', { timeoutMs: config.SSH_TIMEOUT * 1000, signal: stopping })
      return code === 0
    } catch {
      return false
    }
  }
  return {
    async use(ctx, nodeId, work) {
      const found = entries.get(nodeId)
      if (found && performance.now() - found.openedAt > MAX_AGE_MS) drop(nodeId)
      if (found && !(await isAlive(found.session))) drop(nodeId)
      const existing = entries.get(nodeId)
      const openedAt = existing?.openedAt ?? performance.now()
      const session = existing?.session ?? (await openController(ctx, deps, nodeId)).session
      keep(nodeId, session, openedAt)
      try {
        const result = await work(session)
        keep(nodeId, session, openedAt)
        return result
      } catch (error) {
        drop(nodeId)
        throw error
      }
    },
    close() {
      for (const nodeId of [...entries.keys()]) drop(nodeId)
    },
  }
}
