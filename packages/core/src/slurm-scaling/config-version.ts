import { and, desc, eq } from 'drizzle-orm'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { type SlurmConfigVersion, slurmConfigVersions } from '../slurm-configs/index.ts'

type Db = Tx | Ctx['db']

/** The configuration that the hosts of a cluster have. */
export async function rolledOutVersion(db: Db, { id, configNumber }: SlurmCluster): Promise<SlurmConfigVersion | null> {
  return configNumber === null ? null : configVersion(db, id, configNumber)
}

export async function configVersion(db: Db, clusterId: string, number: number): Promise<SlurmConfigVersion | null> {
  const [row] = await db
    .select()
    .from(slurmConfigVersions)
    .where(and(eq(slurmConfigVersions.clusterId, clusterId), eq(slurmConfigVersions.number, number)))
  return row ?? null
}

export async function newestConfigVersion(db: Db, clusterId: string): Promise<SlurmConfigVersion | null> {
  const [row] = await db
    .select()
    .from(slurmConfigVersions)
    .where(eq(slurmConfigVersions.clusterId, clusterId))
    .orderBy(desc(slurmConfigVersions.number))
    .limit(1)
  return row ?? null
}
