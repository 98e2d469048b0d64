import { clusterDeniedReason, slurmMessages } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Actor } from '../kernel/context.ts'
import { slurmScalePermissions } from './permissions.ts'

type Subject = Pick<SlurmCluster, 'id' | 'name' | 'kind' | 'controllerNodeId' | 'configNumber'>

/** Null when the cluster can grow and shrink, else the reason. */
export function notScalableReason({ name, kind, controllerNodeId, configNumber }: Omit<Subject, 'id'>): string | null {
  if (kind !== 'MANAGED') return slurmMessages.notManaged({ name })
  if (controllerNodeId === null) return slurmMessages.noController({ name })
  if (configNumber === null) return slurmMessages.notCreated({ name })
  return null
}

/** Null when `actor` may add nodes to the cluster and remove nodes from it, else the reason. */
export const scaleBlockedReason = (actor: Actor, cluster: Subject): string | null =>
  clusterDeniedReason(actor, slurmScalePermissions.nodes, cluster) ?? notScalableReason(cluster)
