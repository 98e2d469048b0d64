import { type ControllerLoginState, readControllerLogin, recordControllerConnection } from '@muster/core/clusters'
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
import { SshFailure } from '../ssh/ssh-failure.ts'
import type { NodeConfig, WorkerDeps } from '../worker.ts'
import { QueryFailure } from './run-query.ts'

/** Longer than the pause between two refreshes. */
const IDLE_MS = 90_000
/** After it, secrets are read again. */
const MAX_AGE_MS = 600_000

type Deps = Pick<WorkerDeps<NodeConfig>, 'config' | 'stopping'> & { bastions: BastionPool }
/** What a handler needs to log in to controllers. */
export type ControllerLogin = Omit<WorkerDeps<NodeConfig>, 'listener'> & { bastions: BastionPool }

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
  const access = (await nodeAccess(ctx, config.LOCAL_TARGETS, [nodeId])).get(nodeId)
  if (!access) throw new QueryFailure(`There is no node ${nodeId}.`)
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
   * Runs `work` with a session on the node, which other work may share. A session is closed after its last user has ended: when it is
   * idle or old, its connection failed, or the login of the node changed.
   * @throws QueryFailure Muster may not connect to the node; SshFailure it cannot
   */
  use<T>(ctx: Ctx, nodeId: string, work: (session: Session) => Promise<T>): Promise<T>
  /** Closes all sessions, including those in use. */
  close(): void
}
type Opener = {
  readLogin(ctx: Ctx, nodeId: string): Promise<ControllerLoginState>
  open(ctx: Ctx, nodeId: string): Promise<Session>
}
type Entry = {
  session: Promise<Session>
  /** Of the login with which it was opened. */
  version: string
  openedAt: number
  users: number
  /** Whether work ran over it: the host may have restarted since. */
  wasUsed: boolean
  /** No new work may use it. */
  isRetired: boolean
  idleTimer: NodeJS.Timeout | undefined
}

export function createControllerSessions(
  deps: Deps,
  { readLogin, open }: Opener = {
    readLogin: (ctx, nodeId) => retryTransient(() => readControllerLogin(ctx, { nodeId })),
    open: async (ctx, nodeId) => (await openController(ctx, deps, nodeId)).session,
  },
): ControllerSessions {
  const { config, stopping } = deps
  /** Entries that new work may use, by node. */
  const current = new Map<string, Entry>()
  const all = new Set<Entry>()
  const close = (entry: Entry) => {
    clearTimeout(entry.idleTimer)
    all.delete(entry)
    entry.session.then(
      (session) => session.close(),
      () => {},
    )
  }
  const retire = (nodeId: string, entry: Entry) => {
    entry.isRetired = true
    if (current.get(nodeId) === entry) current.delete(nodeId)
    if (entry.users === 0) close(entry)
  }
  function start(ctx: Ctx, nodeId: string, version: string): Entry {
    const session = open(ctx, nodeId)
    const flags = { users: 0, wasUsed: false, isRetired: false, idleTimer: undefined }
    const entry: Entry = { session, version, openedAt: performance.now(), ...flags }
    session.catch(() => retire(nodeId, entry))
    current.set(nodeId, entry)
    all.add(entry)
    return entry
  }
  function acquire(ctx: Ctx, nodeId: string, version: string): Entry {
    const found = current.get(nodeId)
    if (found && (found.version !== version || performance.now() - found.openedAt > MAX_AGE_MS)) retire(nodeId, found)
    const entry = current.get(nodeId) ?? start(ctx, nodeId, version)
    clearTimeout(entry.idleTimer)
    entry.users++
    return entry
  }
  function release(nodeId: string, entry: Entry): void {
    if (--entry.users > 0) return
    if (entry.isRetired) close(entry)
    else entry.idleTimer = setTimeout(() => retire(nodeId, entry), IDLE_MS).unref()
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
      const { blockedReason, version } = await readLogin(ctx, nodeId)
      if (blockedReason !== null) {
        const found = current.get(nodeId)
        if (found) retire(nodeId, found)
        throw new QueryFailure(blockedReason)
      }
      for (;;) {
        const entry = acquire(ctx, nodeId, version)
        try {
          const session = await entry.session
          if (entry.wasUsed && !(await isAlive(session))) {
            retire(nodeId, entry)
            continue
          }
          entry.wasUsed = true
          return await work(session)
        } catch (error) {
          // Other errors, for example output that cannot be read, say nothing about the connection.
          if (error instanceof SshFailure) retire(nodeId, entry)
          throw error
        } finally {
          release(nodeId, entry)
        }
      }
    },
    close() {
      for (const [nodeId, entry] of [...current]) retire(nodeId, entry)
      for (const entry of [...all]) close(entry)
    },
  }
}
