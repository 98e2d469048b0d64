import { arrayContains, eq } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import type { SystemCtx } from '../kernel/context.ts'
import { hashPowerToken } from './power-token.ts'
import { slurmPowerSavings } from './tables.ts'

export type PowerClient = { tenantId: string; clusterId: string; cluster: string }

/** The cluster for which a token was issued, in any tenant. Null when there is none, or its tenant is suspended. */
export async function findPowerClient({ db }: Pick<SystemCtx, 'db'>, token: string): Promise<PowerClient | null> {
  const [found] = await db
    .select({
      tenantId: slurmPowerSavings.tenantId,
      clusterId: slurmPowerSavings.clusterId,
      cluster: slurmClusters.name,
      suspendedAt: tenants.suspendedAt,
    })
    .from(slurmPowerSavings)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmPowerSavings.clusterId))
    .innerJoin(tenants, eq(tenants.id, slurmPowerSavings.tenantId))
    .where(arrayContains(slurmPowerSavings.tokenHashes, [hashPowerToken(token)]))
  if (!found || found.suspendedAt) return null
  const { suspendedAt: _suspendedAt, ...client } = found
  return client
}
