import { parseGres } from '../../gres.ts'
import { GRES_CONF_KEYS, GRES_KEYS } from '../keys.ts'
import { type ConfigEntry, readEntries, readHostlist } from '../model.ts'
import { type ConfigLine, fieldOf, type ParsedConfig, startsWithKey } from '../parse.ts'
import { checkLines } from './lines.ts'
import { listed, type Report } from './report.ts'

type Device = { name: string; type: string | null; count: number; hasFile: boolean }

/**
 * Checks gres.conf, and that it has the resources of each node of slurm.conf: slurmd registers as invalid where it finds less.
 * @param config null when the cluster has no such file
 */
export function checkGresConf(
  report: Report,
  config: ParsedConfig | null,
  slurm: ParsedConfig,
  nodes: Set<string>,
  release: number,
): void {
  if (config) checkLines(report, config, { keys: GRES_CONF_KEYS, lines: { name: GRES_KEYS, nodename: GRES_KEYS } }, release)
  const devices = new Map<string, Device[]>()
  const everywhere: Device[] = []
  let detected = false
  const detectedNodes = new Set<string>()
  for (const line of config?.lines ?? []) {
    const isNode = startsWithKey(line, 'NodeName')
    const autoDetect = fieldOf(line, 'AutoDetect')?.value
    const isDetecting = autoDetect !== undefined && !/^off$/i.test(autoDetect)
    if (startsWithKey(line, 'AutoDetect')) detected = isDetecting
    if (!isNode && !startsWithKey(line, 'Name')) continue
    const names = isNode ? readHostlist(line.fields[0]!.value) : []
    if (!names) {
      report.error(line, 'NodeName', `The list of nodes is malformed: ${line.fields[0]!.value}.`)
      continue
    }
    const unknown = names.filter((name) => !nodes.has(name))
    if (unknown.length > 0) report.warn(line, 'NodeName', `slurm.conf does not define ${listed(unknown)}.`)
    if (isDetecting) for (const name of names) detectedNodes.add(name)
    const device = readDevice(report, line)
    if (!device) continue
    if (!isNode) everywhere.push(device)
    for (const name of names) devices.set(name, [...(devices.get(name) ?? []), device])
  }
  const isDetected = (name: string) => detected || detectedNodes.has(name)
  for (const entry of readEntries(slurm, 'NodeName'))
    checkNode(report, entry, { devices, everywhere, isDetected, hasFile: config !== null })
}

function readDevice(report: Report, line: ConfigLine): Device | null {
  const name = fieldOf(line, 'Name')?.value
  if (name === undefined) return null
  const one = fieldOf(line, 'MultipleFiles')
  const file = fieldOf(line, 'File') ?? fieldOf(line, 'Files')
  const files = file ? readHostlist(file.value) : []
  const countText = fieldOf(line, 'Count')?.value
  if (!files) {
    report.error(line, file!.key, `The list of files is malformed: ${file!.value}.`)
    return null
  }
  const stated = countText === undefined ? null : (parseGres(`${name}:${countText}`)[0]?.count ?? null)
  if (countText !== undefined && !/^\d+[kmgtp]?$/i.test(countText))
    report.error(line, 'Count', `Count must be a number, not ${countText}.`)
  if (files.length > 0 && stated !== null && stated !== files.length && name !== 'shard' && name !== 'mps')
    report.error(line, 'Count', `Count=${countText} differs from the number of files, ${files.length}.`)
  if (name === 'gpu' && files.length === 0 && !one && !fieldOf(line, 'AutoDetect'))
    report.error(line, 'File', 'GPUs need File or MultipleFiles.')
  const count = one ? 1 : files.length > 0 && name !== 'shard' && name !== 'mps' ? files.length : (stated ?? 1)
  return { name, type: fieldOf(line, 'Type')?.value ?? null, count, hasFile: files.length > 0 || one !== undefined }
}

type Devices = { devices: Map<string, Device[]>; everywhere: Device[]; isDetected(name: string): boolean; hasFile: boolean }

function checkNode(report: Report, entry: ConfigEntry, { devices, everywhere, isDetected, hasFile }: Devices): void {
  const wanted = parseGres(entry.values.get('gres') ?? null)
  const missing = new Map<string, string[]>()
  for (const node of wanted.length > 0 ? (readHostlist(entry.name) ?? []) : []) {
    if (isDetected(node)) continue
    const found = [...(devices.get(node) ?? []), ...everywhere]
    for (const { name, type, count } of wanted) {
      const matching = found.filter((device) => device.name === name && (type === null || device.type === type))
      const sum = matching.reduce((total, device) => total + device.count, 0)
      if (sum >= count) continue
      const word = type ? `${name}:${type}` : name
      // Resources other than GPUs need no device, so Slurm accepts them without a line.
      if (matching.length === 0 && name !== 'gpu' && name !== 'shard') continue
      const message = `slurm.conf has ${count} ${word}, but ${hasFile ? 'gres.conf' : 'the missing gres.conf'} has ${sum}`
      missing.set(message, [...(missing.get(message) ?? []), node])
    }
  }
  for (const [message, names] of missing) report.error(null, 'Gres', `${message} on ${listed(names)}.`)
}
