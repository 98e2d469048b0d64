import { releaseNumber } from '../api-versions.ts'
import { foldHostlist, foldInOrder } from '../hostlist.ts'
import { settingKeyProblem } from './check/slurm-conf.ts'
import { parseConfig } from './parse.ts'
import { ConfigError, type ConfigFiles, type ConfigGres, type ConfigNode, type ConfigSettings } from './types.ts'

/** First line of each file that Muster creates. */
const HEADER = '# Managed by Muster. A change on this host blocks the next rollout.'
/** CgroupPlugin=disabled exists from this release on. */
const CGROUP_DISABLED = 24.05

/**
 * Renders the configuration of a new cluster. slurmd gets it from the controllers (configless).
 * @throws ConfigError an extra line is not valid
 */
export function createConfig(settings: ConfigSettings, nodes: readonly ConfigNode[], release: string): ConfigFiles {
  const extra = readExtraLines(settings.extraLines, release)
  const gresNames = [...new Set(nodes.flatMap(({ gres }) => gres.map(({ name }) => name)))].sort()
  const { accountingHost, accountingPort } = settings
  const hasSwitches = nodes.some(({ switchName }) => switchName != null)
  const defaults: Record<string, string | null> = {
    AuthType: 'auth/munge',
    CredType: 'cred/munge',
    SlurmdSpoolDir: '/var/spool/slurmd',
    SlurmctldLogFile: '/var/log/slurm/slurmctld.log',
    SlurmdLogFile: '/var/log/slurm/slurmd.log',
    ProctrackType: 'proctrack/cgroup',
    TaskPlugin: 'task/cgroup,task/affinity',
    JobAcctGatherType: 'jobacct_gather/linux',
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_Core_Memory',
    ReturnToService: '1',
    RebootProgram: '/sbin/reboot',
    GresTypes: gresNames.join(',') || null,
    TopologyPlugin: hasSwitches ? 'topology/tree' : null,
    AccountingStorageType: accountingHost === null ? null : 'accounting_storage/slurmdbd',
    AccountingStorageHost: accountingHost,
    AccountingStoragePort: accountingPort === null ? null : String(accountingPort),
    AccountingStorageTRES: accountingHost === null ? null : gresNames.map((name) => `gres/${name}`).join(',') || null,
  }
  const values = Object.entries(defaults).filter(([key, value]) => value !== null && !extra.has(key.toLowerCase()))
  const parameters = extra.get('slurmctldparameters')?.value.split(',') ?? []
  const slurmConf = [
    HEADER,
    `ClusterName=${settings.clusterName}`,
    ...settings.controllers.map(({ name, address }) => `SlurmctldHost=${name}(${address})`),
    `SlurmUser=${settings.slurmUser}`,
    `StateSaveLocation=${settings.stateFolder}`,
    `SlurmctldParameters=${[...new Set(['enable_configless', ...parameters])].join(',')}`,
    ...values.map(([key, value]) => `${key}=${value}`),
    ...settings.extraLines.filter((line) => !/^\s*slurmctldparameters\s*=/i.test(line)).map((line) => line.trim()),
    ...nodes.map((node) => nodeLine(node)),
    ...settings.partitions.map(
      ({ name, isDefault, maxTimeMinutes }) =>
        `PartitionName=${name} Nodes=ALL Default=${isDefault ? 'YES' : 'NO'} MaxTime=${maxTimeMinutes ?? 'UNLIMITED'} State=UP`,
    ),
  ]
  const gresConf = gresLines(nodes)
  const usesCgroups = ['proctracktype', 'taskplugin', 'jobacctgathertype'].some((key) =>
    (extra.get(key)?.value ?? values.find(([name]) => name.toLowerCase() === key)?.[1] ?? '').includes('cgroup'),
  )
  return {
    'slurm.conf': lines(slurmConf),
    ...(gresConf.length > 0 ? { 'gres.conf': lines([HEADER, ...gresConf]) } : {}),
    ...(hasSwitches ? { 'topology.conf': lines([HEADER, ...topologyLines(nodes)]) } : {}),
    'cgroup.conf': lines([HEADER, ...(usesCgroups ? CONSTRAIN : [withoutCgroups(release)])]),
  }
}

/** Jobs can use their own cores, memory and devices only. */
const CONSTRAIN = ['ConstrainCores=yes', 'ConstrainRAMSpace=yes', 'ConstrainDevices=yes']

/** slurmd would otherwise look for a writable cgroup. Earlier releases do so only with a plugin that needs it. */
const withoutCgroups = (release: string) =>
  releaseNumber(release) >= CGROUP_DISABLED ? 'CgroupPlugin=disabled' : 'CgroupPlugin=cgroup/v1'

/** Muster writes them from the settings. */
const RESERVED = ['clustername', 'slurmctldhost', 'controlmachine', 'slurmuser', 'statesavelocation', 'nodename', 'partitionname']

/** Values by key in lower case. @throws ConfigError */
function readExtraLines(extraLines: readonly string[], release: string): Map<string, { value: string }> {
  const extra = new Map<string, { value: string }>()
  for (const text of extraLines) {
    const problem = extraLineProblem(text, release)
    if (problem) throw new ConfigError(`The extra line ${JSON.stringify(text)} is not possible: ${problem}`)
    const [line] = parseConfig(text).lines
    const field = line?.fields[0]
    if (field) extra.set(field.key.toLowerCase(), { value: field.value })
  }
  return extra
}

/** Why a free-form line cannot be part of the settings; null when it can. */
export function extraLineProblem(text: string, release: string): string | null {
  const { lines } = parseConfig(text)
  if (/[\n\r]/.test(text) || /\\\s*$/.test(text)) return 'It must be one line.'
  const [line] = lines
  if (!line || line.include !== null) return 'Included files are not managed.'
  if (line.rest !== null) return `Slurm cannot read ${JSON.stringify(line.rest)}.`
  const field = line.fields[0]
  if (!field) return null
  if (RESERVED.includes(field.key.toLowerCase())) return `Muster writes ${field.key} from the other settings.`
  return settingKeyProblem(field.key, releaseNumber(release))
}

/**
 * RealMemory of a node: what the operating system reports, less 2 %, which is at least 256 MiB and at most 16 GiB. Kernels of one
 * release reserve different amounts, and a node that reports less than RealMemory is drained.
 */
export function configuredMemory(realMemoryMiB: number): number {
  const headroom = Math.min(Math.max(Math.ceil(realMemoryMiB * 0.02), 256), 16_384)
  return Math.max(realMemoryMiB - headroom, Math.ceil(realMemoryMiB / 2))
}

/** The resources of a node by name and type. gres.conf has several lines of one type when their cores differ. */
export function gresTotals(gres: readonly ConfigGres[]): Pick<ConfigGres, 'name' | 'type' | 'count'>[] {
  const groups = Map.groupBy(gres, ({ name, type }) => JSON.stringify([name, type]))
  return [...groups.values()].map((group) => ({
    name: group[0]!.name,
    type: group[0]!.type,
    count: group.reduce((sum, { count }) => sum + count, 0),
  }))
}

/** A resource as slurm.conf writes it: gpu:h100:8. */
export const formatGres = ({ name, type, count }: Pick<ConfigGres, 'name' | 'type' | 'count'>): string =>
  [name, type, count].filter((part) => part !== null).join(':')

/** @param keys keys in lower case that earlier lines with NodeName=DEFAULT set */
export function nodeLine(node: ConfigNode, keys: ReadonlySet<string> = new Set()): string {
  const { name, address, sockets, coresPerSocket, threadsPerCore } = node
  const gres = gresTotals(node.gres).map(formatGres).join(',')
  const features = node.features.join(',')
  return [
    `NodeName=${name}`,
    ...(address === name ? [] : [`NodeAddr=${address}`]),
    `CPUs=${sockets * coresPerSocket * threadsPerCore}`,
    `Sockets=${sockets} CoresPerSocket=${coresPerSocket} ThreadsPerCore=${threadsPerCore}`,
    `RealMemory=${configuredMemory(node.realMemoryMiB)}`,
    ...(gres !== '' || keys.has('gres') ? [`Gres=${gres || '""'}`] : []),
    ...(features !== '' || keys.has('feature') || keys.has('features') ? [`Features=${features || '""'}`] : []),
    'State=UNKNOWN',
  ].join(' ')
}

/** Name of the switch above the switches of nodes. Without it, no job could use nodes of two switches. */
export const ROOT_SWITCH = 'muster_root'

/** Lines of topology.conf: the switches of the nodes, and one above them. */
function topologyLines(nodes: readonly ConfigNode[]): string[] {
  const missing = nodes.find(({ switchName }) => switchName == null)
  if (missing) throw new ConfigError(`The node ${missing.name} has no switch, but others have one.`)
  const bySwitch = Map.groupBy(nodes, ({ switchName }) => switchName!)
  const leaves = [...bySwitch].map(([name, own]) => `SwitchName=${name} Nodes=${foldHostlist(own.map(({ name }) => name))}`)
  return leaves.length > 1 ? [...leaves, `SwitchName=${ROOT_SWITCH} Switches=${foldHostlist(bySwitch.keys())}`] : leaves
}

/** Lines of gres.conf; nodes with the same devices share theirs. */
export function gresLines(nodes: readonly ConfigNode[]): string[] {
  const byDevices = new Map<string, { names: string[]; gres: ConfigGres[] }>()
  for (const { name, gres } of nodes.filter(({ gres }) => gres.length > 0)) {
    const key = JSON.stringify(gres)
    const group = byDevices.get(key) ?? { names: [], gres }
    group.names.push(name)
    byDevices.set(key, group)
  }
  return [...byDevices.values()].flatMap(({ names, gres }) => {
    const nodes = foldHostlist(names)
    // Slurm reads the GPUs of shards first.
    const ordered = [...gres].sort((a, b) => Number(a.name === 'shard') - Number(b.name === 'shard'))
    return ordered.flatMap((device) => deviceFields(device).map((fields) => [`NodeName=${nodes}`, ...fields].join(' ')))
  })
}

function deviceFields({ name, type, count, files, cores }: ConfigGres): string[][] {
  const fields = [`Name=${name}`, ...(type === null ? [] : [`Type=${type}`])]
  const near = cores === null ? [] : [`Cores=${cores}`]
  if (files.length === 0) return [[...fields, `Count=${count}`, ...near]]
  if (name === 'shard') return [...files].map((file) => [...fields, `Count=${count / files.length}`, `File=${file}`])
  const perUnit = files.length / count
  if (perUnit === 1) return [[...fields, `File=${foldInOrder(files)}`, ...near]]
  if (!Number.isInteger(perUnit)) throw new ConfigError(`${count} ${name} cannot share ${files.length} device files.`)
  return Array.from({ length: count }, (_, unit) => {
    const own = files.slice(unit * perUnit, (unit + 1) * perUnit)
    return [...fields, `MultipleFiles=${own.join(',')}`, ...near]
  })
}

const lines = (list: readonly string[]): string => `${list.join('\n')}\n`
