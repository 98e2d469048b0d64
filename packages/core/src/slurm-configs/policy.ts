import type { SlurmCluster } from '../clusters/tables.ts'
import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { slurmConfigPermissions } from './permissions.ts'

type Subject = Pick<SlurmCluster, 'name' | 'reuseConfig'>

/** Null when Muster may write the configuration of a cluster, else the reason. */
export const reusedConfigReason = ({ name, reuseConfig }: Subject): string | null =>
  reuseConfig
    ? `The configuration of the cluster ${name} is reused: Muster never writes it. Turn that off in the settings of the cluster first.`
    : null

/** Null when `actor` may change the configuration of a cluster, else the reason. */
export const writeSlurmConfigBlockedReason = (actor: Actor, cluster: Subject): string | null =>
  permissionDeniedReason(actor, slurmConfigPermissions.write) ?? reusedConfigReason(cluster)
