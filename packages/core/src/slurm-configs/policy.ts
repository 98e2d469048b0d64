import { foldHostlist } from '@muster/slurm'
import type { ConfigPlan } from '@muster/slurm/config'
import { clusterDeniedReason, slurmMessages } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Actor } from '../kernel/context.ts'
import { slurmConfigPermissions } from './permissions.ts'

type Subject = Pick<SlurmCluster, 'id' | 'name' | 'reuseConfig'>

/** Null when Muster may write the configuration of a cluster, else the reason. */
export const reusedConfigReason = ({ name, reuseConfig }: Omit<Subject, 'id'>): string | null =>
  reuseConfig ? slurmMessages.reusedConfig({ name }) : null

/** Null when a new version can change the configuration of a cluster, else the reason. */
export const notIncludedReason = (cluster: Subject, isImported: boolean): string | null =>
  reusedConfigReason(cluster) ?? (isImported ? null : noConfigReason({ ...cluster, configNumber: null }))

/** Null when `actor` may change the configuration of a cluster, else the reason. */
export const writeSlurmConfigBlockedReason = (actor: Actor, cluster: Subject): string | null =>
  clusterDeniedReason(actor, slurmConfigPermissions.write, cluster) ?? reusedConfigReason(cluster)

type Versioned = Pick<SlurmCluster, 'id' | 'name' | 'kind' | 'configNumber'>

/** Null when the configuration of a cluster may be imported from its hosts, else the reason. */
export const managedConfigReason = ({ name, kind, configNumber }: Omit<Versioned, 'id'>): string | null =>
  kind === 'MANAGED' && configNumber !== null ? slurmMessages.managedConfig({ name }) : null

/**
 * Null when a version has the nodes that a managed cluster has, else the reason: slurmd, keys and groups of nodes follow only a scale-out
 * or scale-in.
 */
export const scaledNodesReason = (
  { name, kind }: Pick<Versioned, 'name' | 'kind'>,
  { addedNodes, removedNodes }: Pick<ConfigPlan, 'addedNodes' | 'removedNodes'>,
): string | null => {
  const changes = [
    ...(addedNodes.length > 0 ? [`adds ${foldHostlist(addedNodes)}`] : []),
    ...(removedNodes.length > 0 ? [`removes ${foldHostlist(removedNodes)}`] : []),
  ]
  return kind === 'MANAGED' && changes.length > 0
    ? `This configuration ${changes.join(' and ')}. Nodes of the managed cluster ${name} are added by a scale-out and removed by a scale-in.`
    : null
}

/** Null when there is a version to compare the hosts with, else the reason. */
export const noConfigReason = ({ name, configNumber }: Pick<Versioned, 'name' | 'configNumber'>): string | null =>
  configNumber === null ? slurmMessages.noConfig({ name }) : null

/** Null when `actor` may import the configuration of a cluster, else the reason. */
export const importSlurmConfigBlockedReason = (actor: Actor, cluster: Versioned): string | null =>
  clusterDeniedReason(actor, slurmConfigPermissions.write, cluster) ?? managedConfigReason(cluster)

/** Null when `actor` may compare the hosts of a cluster with its configuration, else the reason. */
export const checkSlurmConfigBlockedReason = (actor: Actor, cluster: Versioned): string | null =>
  clusterDeniedReason(actor, slurmConfigPermissions.check, cluster) ?? noConfigReason(cluster)
