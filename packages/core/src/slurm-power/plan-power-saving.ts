import { createHash } from 'node:crypto'
import { foldHostlist, releaseNumber } from '@muster/slurm'
import {
  type ConfigFiles,
  changeConfig,
  cloudNodeNames,
  listedCloudData,
  nodeNames,
  parseConfig,
  readEntries,
} from '@muster/slurm/config'
import { and, eq } from 'drizzle-orm'
import { slurmMessages } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput } from '../kernel/errors.ts'
import { expandHostlist } from '../selection/index.ts'
import {
  type ConfigHost,
  controllerHosts,
  previewOf,
  rolledOutVersion,
  type SlurmConfigPreview,
  type SlurmConfigVersion,
} from '../slurm-configs/index.ts'
import { type MemberNode, memberNodes } from './member-nodes.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { noPowerSavingReason } from './policy.ts'
import { powerSavingChanges } from './settings.ts'
import { type PowerSavingSettings, type SlurmPowerSaving, slurmPowerSavings } from './tables.ts'

type Db = Tx | Ctx['db']

export type PowerSavingPlan = {
  cluster: SlurmCluster
  /** Configuration of the hosts. */
  from: SlurmConfigVersion
  files: ConfigFiles
  config: SlurmConfigPreview
  controllers: ConfigHost[]
  /** Current settings; null: off. */
  current: SlurmPowerSaving | null
  /** Nodes that slurmctld may suspend, by NodeName. */
  nodes: Map<string, MemberNode>
  /** Nodes that are excluded although the settings do not name them, with the reason. */
  excluded: { name: string; reason: string }[]
  blockedReason: string | null
  fingerprint: string
}

export async function findPowerSaving(db: Db, ctx: Ctx, clusterId: string): Promise<SlurmPowerSaving | null> {
  const [row] = await db
    .select()
    .from(slurmPowerSavings)
    .where(and(visibleTo(ctx, slurmPowerSavings), eq(slurmPowerSavings.clusterId, clusterId)))
  return row ?? null
}

/**
 * Plans new power saving settings of a cluster; null turns it off.
 * @throws Conflict the cluster is not managed; InvalidInput a node or partition does not exist
 */
export async function planPowerSaving(
  db: Db,
  ctx: Ctx,
  cluster: SlurmCluster,
  settings: PowerSavingSettings | null,
): Promise<PowerSavingPlan> {
  const reason = noPowerSavingReason(cluster)
  if (reason) throw new Conflict(reason)
  const from = (await rolledOutVersion(db, cluster))!
  const slurmConf = parseConfig(from.files['slurm.conf'])
  const names = nodeNames(slurmConf)
  const clouds = cloudNodeNames(slurmConf)
  if (settings) assertNamesExist(settings, from.files, names)
  const members = await memberNodes(db, ctx, cluster, names)
  const chosen = new Set(settings?.excludedNodes ? expandHostlist(settings.excludedNodes) : [])
  const excluded = [...members].flatMap(([name, node]) =>
    typeof node === 'string' && !chosen.has(name) ? [{ name, reason: node }] : [],
  )
  const nodes = new Map(
    [...members].flatMap(([name, node]) => (typeof node === 'string' || chosen.has(name) ? [] : [[name, node]])),
  )
  const never = names.filter((name) => !nodes.has(name))
  const privateData = clouds.length > 0 ? listedCloudData(slurmConf, releaseNumber(cluster.version)) : null
  const files = changeConfig(from.files, powerSavingChanges(settings, foldHostlist(never), privateData))
  const config = await previewOf(db, ctx, cluster, { files, number: null })
  const current = await findPowerSaving(db, ctx, cluster.id)
  const known = JSON.stringify([cluster.id, from.number, settings, files['slurm.conf'], current?.tokenHashes.length ?? 0])
  return {
    cluster,
    from,
    files,
    config,
    controllers: await controllerHosts(db, ctx, cluster, slurmPowerPermissions.write),
    current,
    nodes,
    excluded: settings ? excluded : [],
    blockedReason:
      config.blockedReason ??
      (settings === null && current === null ? slurmMessages.powerIsOff({ name: cluster.name }) : null) ??
      cloudBlockedReason({ clouds, members, nodes, isOn: settings !== null }) ??
      (settings !== null && nodes.size === 0 ? slurmMessages.powersNothing({ name: cluster.name }) : null),
    fingerprint: createHash('sha256').update(known).digest('hex').slice(0, 24),
  }
}

/** Nodes with State=CLOUD work only with power saving: slurmctld takes them for powered down until ResumeProgram has started them. */
function cloudBlockedReason({
  clouds,
  members,
  nodes,
  isOn,
}: Pick<PowerSavingPlan, 'nodes'> & {
  clouds: string[]
  members: Map<string, MemberNode | string>
  isOn: boolean
}): string | null {
  const failing = isOn ? clouds.filter((name) => !nodes.has(name)) : clouds
  if (failing.length === 0) return null
  const names = foldHostlist(failing)
  if (!isOn) return slurmMessages.cloudNeedsPower({ nodes: names })
  const reason = members.get(failing[0]!)
  const why = typeof reason === 'string' ? reason : slurmMessages.cloudExcluded({ node: failing[0]! })
  return slurmMessages.cloudNotPowered({ nodes: names, reason: why })
}

/** With an unknown name, slurmctld ignores all power saving settings. @throws InvalidInput */
function assertNamesExist({ excludedNodes, excludedPartitions }: PowerSavingSettings, files: ConfigFiles, names: string[]): void {
  const partitions = readEntries(parseConfig(files['slurm.conf']), 'PartitionName').map(({ name }) => name)
  const unknownNodes = (excludedNodes ? expandHostlist(excludedNodes) : []).filter((name) => !names.includes(name))
  const unknownPartitions = excludedPartitions.filter((name) => !partitions.includes(name))
  const issues = [
    ...unknownNodes.slice(0, 10).map((name) => ({ path: 'settings.excludedNodes', message: `the cluster has no node ${name}` })),
    ...unknownPartitions.map((name) => ({
      path: 'settings.excludedPartitions',
      message: `the cluster has no partition ${name}`,
    })),
  ]
  if (issues.length > 0) throw new InvalidInput(issues)
}
