import type { SlurmCluster } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import { SshFailure } from '../../ssh/ssh-failure.ts'
import type { ControllerSessions } from '../controller-sessions.ts'
import { QUERY_TIMEOUT_MS, QueryFailure } from '../run-query.ts'
import { type ControllerContext, type OperationContext, OperationFailure } from './operation.ts'

type Cluster = Pick<SlurmCluster, 'name' | 'controllerNodeId' | 'backupNodeId' | 'programFolder'>

/** Sessions on the controllers of a cluster, and on nodes of the inventory. */
export function sessionsOf(
  ctx: Ctx,
  { name, controllerNodeId, backupNodeId, programFolder }: Cluster,
  controllers: ControllerSessions,
  signal: AbortSignal,
): Pick<OperationContext, 'slurm' | 'onNode'> {
  async function onFirst<T>(nodeIds: (string | null)[], work: (controller: ControllerContext) => Promise<T>): Promise<T> {
    const errors: string[] = []
    for (const nodeId of nodeIds) {
      if (nodeId === null) continue
      try {
        const context = { programFolder, timeoutMs: QUERY_TIMEOUT_MS, signal }
        return await controllers.use(ctx, nodeId, (session) => work({ ...context, session }))
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof SshFailure) errors.push(error.summary)
        else if (error instanceof QueryFailure) errors.push(error.message)
        else throw error
      }
    }
    throw new OperationFailure(errors.join(' ') || `The cluster ${name} has no controller node. Choose one.`)
  }
  return {
    slurm: (work) => onFirst([controllerNodeId, backupNodeId], work),
    onNode: (nodeId, work) => onFirst([nodeId], work),
  }
}
