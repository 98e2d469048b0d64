import { clusterDeniedReason, slurmMessages } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Actor } from '../kernel/context.ts'
import { slurmPowerPermissions } from './permissions.ts'

type Subject = Pick<SlurmCluster, 'id' | 'name' | 'kind' | 'configNumber'>

/** Null when Muster can set up power saving on the cluster, else the reason. */
export function noPowerSavingReason({ name, kind, configNumber }: Omit<Subject, 'id'>): string | null {
  if (kind !== 'MANAGED') return slurmMessages.powerNotManaged({ name })
  if (configNumber === null) return slurmMessages.notCreated({ name })
  return null
}

/** Null when `actor` may change the power saving of the cluster, else the reason. */
export const setPowerSavingBlockedReason = (actor: Actor, cluster: Subject): string | null =>
  clusterDeniedReason(actor, slurmPowerPermissions.write, cluster) ?? noPowerSavingReason(cluster)
