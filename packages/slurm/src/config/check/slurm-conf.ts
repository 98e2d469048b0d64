import { findKey } from '../key-table.ts'
import { DOWN_NODES_KEYS, FRONTEND_KEYS, NODE_KEYS, NODE_SET_KEYS, PARTITION_KEYS, SLURM_CONF_KEYS } from '../keys.ts'
import { type ConfigEntry, readEntries, readHostlist, readSetting } from '../model.ts'
import { type ParsedConfig, startsWithKey } from '../parse.ts'
import { checkCloudNodes } from './cloud-nodes.ts'
import { checkLines, type Grammar } from './lines.ts'
import { listed, type Report } from './report.ts'
import { partitionStateProblem, preemptModeProblem, SETTING_CHECKS, shareProblem, timeProblem } from './values.ts'

const GRAMMAR: Grammar = {
  keys: SLURM_CONF_KEYS,
  lines: {
    nodename: NODE_KEYS,
    partitionname: PARTITION_KEYS,
    downnodes: DOWN_NODES_KEYS,
    nodeset: NODE_SET_KEYS,
    frontendname: FRONTEND_KEYS,
    poweraction: null,
  },
}

/** Checks slurm.conf. @returns the names of its nodes */
export function checkSlurmConf(report: Report, config: ParsedConfig, release: number): Set<string> {
  checkLines(report, config, GRAMMAR, release)
  checkSettings(report, config)
  checkControllers(report, config)
  const names = checkNodes(report, config)
  checkCloudNodes(report, config, release)
  checkPartitions(report, config, names)
  return names
}

function checkSettings(report: Report, config: ParsedConfig): void {
  if (!readSetting(config, 'ClusterName')) report.error(null, 'ClusterName', 'ClusterName is missing.')
  for (const line of config.lines) {
    const field = line.fields[0]
    const problem = field && SETTING_CHECKS[field.key.toLowerCase()]?.(field.value)
    if (problem) report.error(line, field.key, `${field.key} ${problem}.`)
  }
  const mode = readSetting(config, 'PreemptMode') ?? 'OFF'
  const isOff = mode
    .toLowerCase()
    .split(',')
    .every((word) => ['off', 'cluster', 'gang', 'within'].includes(word))
  const hasType = /^preempt\/(qos|partition_prio)$/.test(readSetting(config, 'PreemptType') ?? '')
  if (preemptModeProblem(mode) === null && hasType === isOff)
    report.error(
      null,
      'PreemptMode',
      hasType ? 'PreemptType needs a PreemptMode other than OFF.' : `PreemptMode=${mode} needs a PreemptType.`,
    )
  if (readSetting(config, 'MaxNodeCount') && (readSetting(config, 'SelectType') ?? 'select/cons_tres') !== 'select/cons_tres')
    report.error(null, 'MaxNodeCount', 'MaxNodeCount needs SelectType=select/cons_tres.')
}

function checkControllers(report: Report, config: ParsedConfig): void {
  const hosts = config.lines.filter((line) => startsWithKey(line, 'SlurmctldHost'))
  if (hosts.length === 0) {
    if (!readSetting(config, 'ControlMachine')) report.error(null, 'SlurmctldHost', 'SlurmctldHost is missing.')
    return
  }
  const seen = new Set<string>()
  for (const line of hosts) {
    const { value } = line.fields[0]!
    const [, name] = /^([^()]+)(?:\([^()]*\))?$/.exec(value) ?? []
    if (name === undefined) report.error(line, 'SlurmctldHost', `SlurmctldHost must be a name or name(address), not ${value}.`)
    else if (seen.has(name)) report.error(line, 'SlurmctldHost', `The controller ${name} appears twice.`)
    else seen.add(name)
  }
}

const NODE_STATE = /^(unknown|idle|down|drain|fail|failing|future|cloud|error|unk\w*|mix\w*|alloc\w*)\*?$/i
/** Keys whose lists belong to the names of the line in the same order. */
export const PAIRED_KEYS = ['NodeAddr', 'NodeHostname', 'BcastAddr', 'Port'] as const

function checkNodes(report: Report, config: ParsedConfig): Set<string> {
  const seen = new Map<string, number>()
  for (const line of config.lines.filter((line) => startsWithKey(line, 'NodeName'))) {
    const name = line.fields[0]!.value.toLowerCase()
    if (name === 'all') report.error(line, 'NodeName', 'ALL is reserved.')
    if (name !== 'default') continue
    const field = line.fields.find(({ key }) => ['nodeaddr', 'nodehostname', 'bcastaddr'].includes(key.toLowerCase()))
    if (field) report.error(line, field.key, `${field.key} is not allowed with NodeName=DEFAULT.`)
  }
  for (const entry of readEntries(config, 'NodeName')) {
    const names = readHostlist(entry.name)
    if (!names || names.length === 0) {
      report.error(entry.line, 'NodeName', `The list of nodes is malformed: ${entry.name}.`)
      continue
    }
    for (const name of names) {
      const earlier = seen.get(name)
      if (earlier === undefined) seen.set(name, entry.line.number)
      else report.error(entry.line, 'NodeName', `The node ${name} is defined twice, first in line ${earlier}.`)
    }
    checkNode(report, entry, names)
    checkNodeGres(report, config, entry)
  }
  return new Set(seen.keys())
}

function checkNode(report: Report, { line, values }: ConfigEntry, names: string[]): void {
  for (const key of PAIRED_KEYS) {
    const text = values.get(key.toLowerCase())
    if (text === undefined) continue
    const list = readHostlist(text)
    if (!list) report.error(line, key, `The list ${text} is malformed.`)
    else if (list.length !== names.length && list.length !== 1)
      report.error(line, key, `The line has ${names.length} nodes, but ${list.length} values of ${key}.`)
  }
  const state = values.get('state')
  if (state !== undefined && !NODE_STATE.test(state)) report.error(line, 'State', `Slurm has no node state ${state}.`)
  const count = (key: string) => (values.has(key) ? Number(values.get(key)) : null)
  for (const key of ['CPUs', 'Sockets', 'CoresPerSocket', 'ThreadsPerCore', 'Boards', 'SocketsPerBoard'])
    if (count(key.toLowerCase()) === 0) report.warn(line, key, `${key}=0 is not valid. Slurm uses 1.`)
  const cpus = count('cpus') ?? count('procs')
  const sockets = count('socketsperboard') ? (count('boards') ?? 1) * count('socketsperboard')! : count('sockets')
  if (cpus === null || sockets === null || !(cpus > 0)) return
  const cores = sockets * (count('corespersocket') || 1)
  if (![sockets, cores, cores * (count('threadspercore') || 1)].includes(cpus))
    report.warn(
      line,
      'CPUs',
      `CPUs=${cpus} matches neither the sockets, nor the cores, nor the threads. Slurm computes it again.`,
    )
}

function checkNodeGres(report: Report, config: ParsedConfig, { line, values }: ConfigEntry): void {
  const types = new Set((readSetting(config, 'GresTypes') ?? '').split(',').map((word) => word.trim()))
  for (const word of (values.get('gres') ?? '').split(',').filter(Boolean)) {
    const name = word.split(':')[0]!
    if (!types.has(name)) report.error(line, 'Gres', `GresTypes does not list ${name}.`)
    if (!/^[^:]+(:[^:]+)*?(:\d+[kmgtp]?)?$/i.test(word)) report.error(line, 'Gres', `Slurm cannot read ${word}.`)
  }
}

const PARTITION_CHECKS: Record<string, (value: string) => string | null> = {
  MaxTime: timeProblem,
  DefaultTime: timeProblem,
  State: partitionStateProblem,
  OverSubscribe: shareProblem,
  Shared: shareProblem,
  PreemptMode: preemptModeProblem,
  SelectTypeParameters: (value) =>
    /^cr_(core|socket)/i.test(value) ? null : `must be CR_Core, CR_Socket, or one of them with _Memory`,
}

function checkPartitions(report: Report, config: ParsedConfig, nodes: Set<string>): void {
  const sets = new Set(readEntries(config, 'NodeSet').map(({ name }) => name))
  const hasIncludes = config.lines.some(({ include }) => include !== null)
  const seen = new Set<string>()
  const defaults: string[] = []
  for (const { line, name, values } of readEntries(config, 'PartitionName')) {
    if (seen.has(name)) report.warn(line, 'PartitionName', `The partition ${name} is defined twice.`)
    seen.add(name)
    for (const [key, check] of Object.entries(PARTITION_CHECKS)) {
      const value = values.get(key.toLowerCase())
      const problem = value === undefined ? null : check(value)
      if (problem) report.error(line, key, `${key} ${problem}.`)
    }
    if (/^(yes|up|true|1)$/i.test(values.get('default') ?? '')) defaults.push(name)
    const list = readHostlist(values.get('nodes'))
    if (!list) report.error(line, 'Nodes', `The list of nodes is malformed: ${values.get('nodes')}.`)
    const unknown = (list ?? []).filter((node) => node.toUpperCase() !== 'ALL' && !nodes.has(node) && !sets.has(node))
    if (unknown.length > 0) {
      const message = `The partition ${name} has nodes that are not defined: ${listed(unknown)}.`
      if (hasIncludes) report.warn(line, 'Nodes', message)
      else report.error(line, 'Nodes', message)
    }
  }
  if (defaults.length > 1)
    report.warn(null, 'Default', `Several partitions are the default: ${listed(defaults)}. Slurm uses the last one.`)
}

/** Why a free-form line cannot be part of slurm.conf; null when it can. */
export function settingKeyProblem(key: string, release: number): string | null {
  const found = findKey(SLURM_CONF_KEYS, key, release)
  return 'unknown' in found ? `The key ${key} ${found.unknown}.` : null
}
