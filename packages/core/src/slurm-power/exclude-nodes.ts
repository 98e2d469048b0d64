import { foldHostlist } from '@muster/slurm'
import { type ConfigFiles, changeConfig, parseConfig, readHostlist, readSetting } from '@muster/slurm/config'
import type { Ctx, Tx } from '../kernel/context.ts'
import { withoutBmc } from './member-nodes.ts'
import { findPowerSaving } from './plan-power-saving.ts'

/** Excludes new nodes without a BMC from power saving: slurmctld would regard them as suspended, and could not resume them. */
export async function excludeWithoutBmc(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  clusterId: string,
  files: ConfigFiles,
  added: readonly { nodeId: string; name: string }[],
): Promise<ConfigFiles> {
  if (!(await findPowerSaving(db, ctx, clusterId))) return files
  const lacking = await withoutBmc(
    db,
    ctx,
    added.map(({ nodeId }) => nodeId),
  )
  const names = added.flatMap(({ nodeId, name }) => (lacking.has(nodeId) ? [name] : []))
  if (names.length === 0) return files
  const excluded = readHostlist(readSetting(parseConfig(files['slurm.conf']), 'SuspendExcNodes') ?? '') ?? []
  return changeConfig(files, [{ key: 'SuspendExcNodes', value: foldHostlist([...excluded, ...names]) }])
}
