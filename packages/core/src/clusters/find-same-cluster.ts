import type { SlurmNode } from '@muster/slurm'
import { and, eq, isNotNull, ne } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { slurmClusters, slurmNodes } from './tables.ts'

/** SlurmctldHost[0], SlurmctldHost[1], … with their addresses. */
const controllersOf = (settings: Record<string, string>) =>
  Object.entries(settings)
    .filter(([name]) => name.startsWith('SlurmctldHost['))
    .map(([, host]) => host)
    .sort()
    .join(' ')

type Snapshot = { clusterName: string | null; settings: Record<string, string> | null; nodes: SlurmNode[] }

const booted = ({ name, bootAt }: Pick<SlurmNode, 'name' | 'bootAt'>) => `${name} ${bootAt && new Date(bootAt).getTime()}`

/**
 * Finds a cluster that was read before and is the same one, seen from another host: it has the same ClusterName and controllers, and a
 * node with the same name and boot time. Names alone do not suffice: many sites use those of the documentation.
 * @returns its name in Muster; null when there is none, or the configuration was not read
 */
export async function findSameCluster(tx: Tx, ctx: Ctx, id: string, state: Snapshot): Promise<string | null> {
  const { clusterName, settings } = state
  if (clusterName === null || settings === null) return null
  const others = await tx
    .select({ id: slurmClusters.id, name: slurmClusters.name, settings: slurmClusters.settings })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        ne(slurmClusters.id, id),
        eq(slurmClusters.clusterName, clusterName),
        isNotNull(slurmClusters.discoveredAt),
      ),
    )
  const ours = new Set(state.nodes.filter(({ bootAt }) => bootAt !== null).map(booted))
  for (const other of others) {
    if (controllersOf(other.settings) !== controllersOf(settings)) continue
    const theirs = await tx
      .select({ report: slurmNodes.report })
      .from(slurmNodes)
      .where(
        and(
          eq(slurmNodes.clusterId, other.id),
          isOneOf(
            slurmNodes.name,
            state.nodes.map(({ name }) => name),
            'text',
          ),
        ),
      )
    if (theirs.some(({ report }) => ours.has(booted(report)))) return other.name
  }
  return null
}
