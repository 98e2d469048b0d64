import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { slurmClusterPermissions } from './permissions.ts'

/** Records that a worker connects to a controller's host, before it does. One connection serves many refreshes. */
export async function recordControllerConnection(ctx: Ctx, { nodeId }: { nodeId: string }): Promise<void> {
  authorize(ctx, slurmClusterPermissions.report)
  await inTransaction(ctx, (tx, ctx) => audit(tx, ctx, nodeAudit.connect, { id: nodeId }, { purpose: 'Slurm cluster' }))
}
