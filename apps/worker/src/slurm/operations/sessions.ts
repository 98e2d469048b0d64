import type { SlurmCluster } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import { retryTransient } from '@muster/core/retry-transient'
import { SshFailure } from '../../ssh/ssh-failure.ts'
import type { ControllerSessions } from '../controller-sessions.ts'
import { QUERY_TIMEOUT_MS, QueryFailure } from '../run-query.ts'
import { type ControllerContext, type OperationContext, OperationFailure } from './operation.ts'

/** Then 2, 4 and 8 s, within the 20 s of `retryTransient`. */
const FIRST_RETRY_MS = 1000

type Cluster = Pick<SlurmCluster, 'name' | 'controllerNodeId' | 'backupNodeId' | 'programFolder'>
type Retry = { nodeId: string | null; message: string }

/** No host could be used. */
class HostsFailed extends OperationFailure {}

/**
 * Sessions on the controllers of a cluster, and on nodes of the inventory. Work is repeated when its connection fails, so it must
 * tolerate that.
 * @param onRetry gets why work is repeated; `nodeId` is that of the first host
 */
export function sessionsOf(
  ctx: Ctx,
  { name, controllerNodeId, backupNodeId, programFolder }: Cluster,
  controllers: ControllerSessions,
  signal: AbortSignal,
  onRetry: (retry: Retry) => Promise<void> = async () => {},
): Pick<OperationContext, 'slurm' | 'onNode'> {
  async function onFirst<T>(nodeIds: (string | null)[], work: (controller: ControllerContext) => Promise<T>): Promise<T> {
    /** Hosts that may work at the next attempt. */
    let hosts = nodeIds.filter((nodeId) => nodeId !== null)
    const errors = new Map<string, string>()
    const attempt = async () => {
      for (const nodeId of hosts) {
        try {
          const context = { programFolder, timeoutMs: QUERY_TIMEOUT_MS, signal }
          return await controllers.use(ctx, nodeId, (session) => work({ ...context, session }))
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof SshFailure) errors.set(nodeId, error.summary)
          else if (error instanceof QueryFailure) errors.set(nodeId, error.message)
          else throw error
          if (!(error instanceof SshFailure && error.isTransient)) hosts = hosts.filter((host) => host !== nodeId)
        }
      }
      throw new HostsFailed([...errors.values()].join(' ') || `The cluster ${name} has no controller node. Choose one.`)
    }
    try {
      return await retryTransient(attempt, {
        everyMs: FIRST_RETRY_MS,
        factor: 2,
        signal,
        isTransient: (error) => error instanceof HostsFailed && hosts.length > 0,
        onRetry: ({ message }, number) => onRetry({ nodeId: hosts[0] ?? null, message: `${message} Attempt ${number} follows.` }),
      })
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }
  return {
    slurm: (work) => onFirst([controllerNodeId, backupNodeId], work),
    onNode: (nodeId, work) => onFirst([nodeId], work),
  }
}
