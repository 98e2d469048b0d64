import { releaseNumber } from '../api-versions.ts'
import { readEntries, readHostlist } from './model.ts'
import { type ParsedConfig, parseConfig } from './parse.ts'
import type { ConfigFiles } from './types.ts'

export type ConfigPlan = {
  /** What slurmctld needs to use the files. NONE: they are the same. */
  controllers: 'NONE' | 'RECONFIGURE' | 'RESTART'
  /** Nodes whose slurmd is restarted. Their jobs go on. */
  nodes: string[]
  addedNodes: string[]
  removedNodes: string[]
  /** What is lost, in words. */
  lost: string[]
}

/** From this release on, reconfigure restarts slurmctld with the new files, and keeps the old one when that fails. */
const RECONFIGURE_RESTARTS = 23.11

/** slurmctld of every release must be restarted for these. */
const RESTART_KEYS = [
  'ClusterName SlurmctldHost ControlMachine ControlAddr BackupController BackupAddr SlurmctldAddr SlurmctldPort SlurmUser',
  'StateSaveLocation AuthType AuthInfo AuthAltTypes AuthAltParameters CredType PluginDir SlurmctldPidFile TLSType HashPlugin',
]
/** slurmctld before 23.11 must be restarted for these: slurm.conf(5) says so, or the value names a plugin, which is loaded once. */
const OLD_RESTART_KEYS = [
  'AccountingStorageEnforce AccountingStorageType AcctGatherEnergyType BurstBufferType CommunicationParameters GresTypes',
  'JobAcctGatherType JobCompType JobContainerType JobSubmitPlugins MaxJobCount MaxNodeCount MCSPlugin MpiDefault PowerPlugin',
  'PreemptType PrEpPlugins PriorityType ProctrackType RoutePlugin SchedulerType SelectType SelectTypeParameters SiteFactorPlugin',
  'SlurmctldParameters SlurmdPort SwitchType TopologyPlugin TaskPlugin',
]
/** slurmd must be restarted for these. */
const SLURMD_KEYS = [
  'AuthType AuthInfo AuthAltTypes CoreSpecPlugin CredType GresTypes JobAcctGatherType AcctGatherEnergyType AcctGatherProfileType',
  'AcctGatherInterconnectType AcctGatherFilesystemType JobContainerType NamespaceType PluginDir ProctrackType SelectType SlurmdPort',
  'SlurmdSpoolDir SlurmdUser SwitchType TaskPlugin HashPlugin TLSType SlurmdParameters',
]
/** Keys of a node line that only slurmctld uses. */
const CONTROLLER_NODE_KEYS = new Set(['weight', 'feature', 'features', 'state', 'reason', 'tresweights', 'restrictedcorespergpu'])

const keys = (lists: readonly string[]) => lists.flatMap((list) => list.split(' '))

/**
 * What must be done so that a cluster uses other files.
 * @param removesFreeNodes removed nodes have no jobs when the files are used
 */
export function planConfig(
  from: ConfigFiles,
  to: ConfigFiles,
  release: string,
  { removesFreeNodes = false }: { removesFreeNodes?: boolean } = {},
): ConfigPlan {
  const isOld = releaseNumber(release) < RECONFIGURE_RESTARTS
  const [before, after] = [parseConfig(from['slurm.conf']), parseConfig(to['slurm.conf'])]
  const [oldNodes, newNodes] = [readNodes(before, from), readNodes(after, to)]
  const addedNodes = [...newNodes.keys()].filter((name) => !oldNodes.has(name))
  const removedNodes = [...oldNodes.keys()].filter((name) => !newNodes.has(name))
  const changed = changedKeys(before, after)
  const slurmdChanged =
    from['cgroup.conf'] !== to['cgroup.conf'] || keys(SLURMD_KEYS).some((key) => changed.has(key.toLowerCase()))
  const nodes = [...newNodes].flatMap(([name, node]) => {
    const old = oldNodes.get(name)
    return old !== undefined && (slurmdChanged || old !== node) ? [name] : []
  })
  const hardwareChanged = [...newNodes].some(([name, node]) => (oldNodes.get(name) ?? node) !== node)
  const mustRestart =
    keys(RESTART_KEYS).some((key) => changed.has(key.toLowerCase())) ||
    (isOld &&
      (addedNodes.length + removedNodes.length > 0 ||
        hardwareChanged ||
        keys(OLD_RESTART_KEYS).some((key) => changed.has(key.toLowerCase()))))
  const isSame = sameFiles(from, to)
  const controllers = isSame ? 'NONE' : mustRestart ? 'RESTART' : 'RECONFIGURE'
  return {
    controllers,
    nodes,
    addedNodes,
    removedNodes,
    lost: isSame ? [] : lostThings(changed, removesFreeNodes ? [] : removedNodes),
  }
}

const sameFiles = (a: ConfigFiles, b: ConfigFiles): boolean =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].every(
    (file) => a[file as keyof ConfigFiles] === b[file as keyof ConfigFiles],
  )

/** What slurmd knows about each node: its line, with inherited values, and its devices. */
function readNodes(config: ParsedConfig, files: ConfigFiles): Map<string, string> {
  const nodes = new Map<string, string>()
  for (const { name, values } of readEntries(config, 'NodeName')) {
    const own = [...values].filter(([key]) => !CONTROLLER_NODE_KEYS.has(key)).sort(([a], [b]) => (a < b ? -1 : 1))
    const names = readHostlist(name) ?? []
    names.forEach((node, index) => {
      const exact = own.map(([key, value]) => [
        key,
        readHostlist(value)?.length === names.length ? readHostlist(value)![index] : value,
      ])
      nodes.set(node, JSON.stringify(exact))
    })
  }
  const gres = parseConfig(files['gres.conf'] ?? '')
  const shared = gres.lines
    .filter(({ fields }) => fields[0] && fields[0].key.toLowerCase() !== 'nodename')
    .map(({ fields }) => fields)
  const devices = new Map<string, string[]>()
  for (const { name, values } of readEntries(gres, 'NodeName')) {
    const text = JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const node of readHostlist(name) ?? []) devices.set(node, [...(devices.get(node) ?? []), text])
  }
  const common = JSON.stringify(shared.map((fields) => fields.map(({ key, value }) => [key.toLowerCase(), value])))
  for (const [node, text] of nodes) nodes.set(node, JSON.stringify([text, devices.get(node) ?? [], common]))
  return nodes
}

/** Keys in lower case whose lines differ, apart from nodes and partitions. */
function changedKeys(before: ParsedConfig, after: ParsedConfig): Set<string> {
  const read = ({ lines }: ParsedConfig) => {
    const values = new Map<string, string[]>()
    for (const { fields } of lines) {
      const key = fields[0]?.key.toLowerCase()
      if (key === undefined || key === 'nodename' || key === 'partitionname') continue
      values.set(key, [...(values.get(key) ?? []), fields.map(({ value }) => value).join(' ')])
    }
    return values
  }
  const [old, now] = [read(before), read(after)]
  const all = [...new Set([...old.keys(), ...now.keys()])]
  return new Set(all.filter((key) => JSON.stringify(old.get(key)) !== JSON.stringify(now.get(key))))
}

function lostThings(changed: ReadonlySet<string>, removedNodes: readonly string[]): string[] {
  const lost = ['Changes made with scontrol to partitions, and to weights and features of nodes, are undone.']
  if (changed.has('selecttype')) lost.push('All jobs are lost, because SelectType changes.')
  if (changed.has('switchtype')) lost.push('Running jobs are lost, because SwitchType changes.')
  if (changed.has('statesavelocation'))
    lost.push('Jobs are lost unless their state is copied, because StateSaveLocation changes.')
  if (changed.has('clustername')) lost.push('slurmctld refuses to start with the state of another ClusterName.')
  if (removedNodes.length > 0) lost.push('Jobs on removed nodes fail.')
  return lost
}
