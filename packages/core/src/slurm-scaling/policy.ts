import { clusterDeniedReason } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Actor } from '../kernel/context.ts'
import { slurmScalePermissions } from './permissions.ts'

type Subject = Pick<SlurmCluster, 'id' | 'name' | 'kind' | 'controllerNodeId' | 'configNumber'>

/** Null when the cluster can grow and shrink, else the reason. */
export function notScalableReason({ name, kind, controllerNodeId, configNumber }: Omit<Subject, 'id'>): string | null {
  if (kind !== 'MANAGED')
    return `The cluster ${name} is not managed by Muster, so Muster adds no nodes to it and removes none. Change its slurm.conf, then refresh it.`
  if (controllerNodeId === null) return `The cluster ${name} has no controller node. Choose one.`
  if (configNumber === null) return `The cluster ${name} was not created yet. Wait for the end of its creation.`
  return null
}

/** Null when `actor` may add nodes to the cluster and remove nodes from it, else the reason. */
export const scaleBlockedReason = (actor: Actor, cluster: Subject): string | null =>
  clusterDeniedReason(actor, slurmScalePermissions.nodes, cluster) ?? notScalableReason(cluster)
