import { parseGres } from '../gres.ts'
import { expandHostlist, foldHostlist, foldInOrder, HostlistError } from '../hostlist.ts'
import { PAIRED_KEYS } from './check/slurm-conf.ts'
import { addGresTypes, selectNodes } from './edit.ts'
import { endLine, removeField, setField } from './lines.ts'
import { ALIASES, readEntries, readHostlist } from './model.ts'
import { type ConfigLine, fieldOf, type ParsedConfig, parseConfig, startsWithKey } from './parse.ts'
import { type ConfigChange, ConfigError, type ConfigFiles } from './types.ts'

/** Keys that begin lines with further keys, or that may be in several lines. */
const LINE_KEYS = ['NodeName', 'PartitionName', 'NodeSet', 'DownNodes', 'FrontendName', 'SlurmctldHost', 'PowerAction', 'Include']

/**
 * Sets and removes keys. Other lines, and the rest of the changed ones, stay. A changed Gres of nodes changes their devices in gres.conf,
 * too: fewer devices remove the last ones.
 * @throws ConfigChangeError a partition or a node does not exist, or the change needs an edit of the text
 */
export function changeConfig(files: ConfigFiles, changes: readonly ConfigChange[]): ConfigFiles {
  const gresConf = files['gres.conf']
  const start: State = {
    slurmConf: parseConfig(files['slurm.conf']),
    gresConf: gresConf === undefined ? null : parseConfig(gresConf),
    resources: [],
  }
  const { resources, ...changed } = changes.reduce((state, change, index) => {
    try {
      return applyChange(state, change)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      throw new ConfigChangeError(error.message, index)
    }
  }, start)
  const texts = {
    'slurm.conf': textOf(changed.slurmConf),
    ...(changed.gresConf ? { 'gres.conf': textOf(changed.gresConf) } : {}),
  }
  return addGresTypes({ ...files, ...texts }, resources)
}

/** A change is not possible. */
export class ConfigChangeError extends ConfigError {
  /** Position of the change in the list, from 0. */
  readonly index: number
  constructor(message: string, index: number) {
    super(message)
    this.index = index
  }
}

/** Files may have a million characters, so they are parsed once, and each change parses only the lines that it writes. */
type State = {
  slurmConf: ParsedConfig
  gresConf: ParsedConfig | null
  /** Names of the GRES that nodes got. */
  resources: string[]
}

const textOf = ({ lines }: ParsedConfig): string => lines.map(({ text }) => text).join('')

/** Replaces lines by the texts that `change` returns. */
const mapLines = ({ lines }: ParsedConfig, change: (line: ConfigLine, index: number) => string): ParsedConfig => ({
  lines: lines.flatMap((line, index) => {
    const text = change(line, index)
    return text === line.text ? [line] : text === '' ? [] : parseConfig(text).lines
  }),
})

function applyChange(state: State, { partition, nodes, key, value }: ConfigChange): State {
  if (!/^\w+$/.test(key)) throw new ConfigError(`${JSON.stringify(key)} is no key of slurm.conf.`)
  const text = value === null ? null : formatValue(key, value)
  if (partition != null) return { ...state, slurmConf: changePartition(state.slurmConf, partition, key, text) }
  if (nodes == null) return { ...state, slurmConf: changeSetting(state.slurmConf, key, text) }
  const names = expand(nodes)
  const slurmConf = changeNodes(state.slurmConf, names, key, text)
  if (key.toLowerCase() !== 'gres') return { ...state, slurmConf }
  const wanted = parseGres(value ?? '')
  return {
    slurmConf,
    gresConf: state.gresConf && changeDevices(state.gresConf, names, wanted),
    resources: [...state.resources, ...wanted.map(({ name }) => name)],
  }
}

function expand(nodes: string): string[] {
  try {
    return expandHostlist(nodes)
  } catch (error) {
    if (error instanceof HostlistError) throw new ConfigError(`The list of nodes ${nodes} is malformed.`)
    throw error
  }
}

function formatValue(key: string, value: string): string {
  if (/["\\#\n\r]/.test(value)) throw new ConfigError(`The value of ${key} has characters that need an edit of the text.`)
  return value === '' || /\s/.test(value) ? `"${value}"` : value
}

const isLineOf = (line: ConfigLine, keys: readonly string[]) => keys.some((key) => startsWithKey(line, key))

function changeSetting(config: ParsedConfig, key: string, value: string | null): ParsedConfig {
  const { lines } = config
  if (LINE_KEYS.some((word) => word.toLowerCase() === key.toLowerCase()))
    throw new ConfigError(`${key} can be in several lines. Edit the text.`)
  const last = lines.findLastIndex((line) => startsWithKey(line, key))
  if (value === null) return { lines: lines.filter((line) => !startsWithKey(line, key)) }
  if (last >= 0) return mapLines(config, (line, index) => (index === last ? setField(line, key, value) : line.text))
  const firstList = lines.findIndex((line) => isLineOf(line, LINE_KEYS.slice(0, 5)))
  const settings = firstList < 0 ? lines : lines.slice(0, firstList)
  const at = settings.findLastIndex((line) => line.fields.length > 0) + 1
  const added = `${key}=${value}\n`
  if (at === 0) return { lines: [...parseConfig(added).lines, ...lines] }
  return mapLines(config, ({ text }, index) => (index === at - 1 ? `${endLine(text)}${added}` : text))
}

/** @param value null: the key is removed */
function changeField(line: ConfigLine, key: string, value: string | null): string {
  const alias = Object.entries(ALIASES).find(([name]) => name.toLowerCase() === key.toLowerCase())?.[1]
  const used = alias !== undefined && !fieldOf(line, key) && fieldOf(line, alias) ? alias : key
  return value === null ? removeField(line, used) : setField(line, used, value)
}

function changePartition(config: ParsedConfig, name: string, key: string, value: string | null): ParsedConfig {
  if (key.toLowerCase() === 'partitionname') throw new ConfigError('A partition cannot be renamed. Edit the text.')
  const entry = readEntries(config, 'PartitionName').findLast((one) => one.name === name)
  if (!entry) throw new ConfigError(`The configuration has no partition ${name}.`)
  return mapLines(config, (line) => (line === entry.line ? changeField(line, key, value) : line.text))
}

/** A line whose nodes do not all change is split. */
function changeNodes(config: ParsedConfig, names: readonly string[], key: string, value: string | null): ParsedConfig {
  if (key.toLowerCase() === 'nodename') throw new ConfigError('A node cannot be renamed. Edit the text.')
  if (names.length > 1 && PAIRED_KEYS.some((word) => word.toLowerCase() === key.toLowerCase()))
    throw new ConfigError(`Nodes have different values of ${key}. Change one node at a time.`)
  const missing = new Set(names)
  const changedConfig = mapLines(config, (line) => {
    if (!startsWithKey(line, 'NodeName') || line.fields[0]!.value.toLowerCase() === 'default') return line.text
    const own = readHostlist(line.fields[0]!.value) ?? []
    const changed = new Set(own.filter((name) => missing.delete(name)))
    if (changed.size === 0) return line.text
    if (changed.size === own.length) return changeField(line, key, value)
    const [other, part] = [false, true].map((isChanged) => selectNodes(line, (name) => changed.has(name) === isChanged))
    const [split] = parseConfig(part!).lines
    return `${endLine(other!)}${changeField(split!, key, value)}`
  })
  const [first] = missing
  if (first !== undefined) throw new ConfigError(`The configuration has no node ${first}.`)
  return changedConfig
}

type Gres = ReturnType<typeof parseGres>

/** Removes devices from gres.conf that the new Gres of nodes does not have. */
function changeDevices(config: ParsedConfig, names: readonly string[], wanted: Gres): ParsedConfig {
  const left = new Map(names.map((name) => [name, wanted.map((gres) => ({ ...gres }))]))
  return mapLines(config, (line) => {
    const list = startsWithKey(line, 'NodeName') ? readHostlist(line.fields[0]!.value) : null
    const device = list && readDevice(line)
    if (!list || !device || !list.some((name) => left.has(name))) return line.text
    const counts = new Map(list.map((name) => [name, takeDevices(left.get(name), device)]))
    const byCount = Map.groupBy(list, (name) => counts.get(name)!)
    return [...byCount]
      .filter(([count]) => count > 0)
      .map(([count, own]) => withDevices(line, own.length === list.length ? null : own, count === device.count ? null : count))
      .join('')
  })
}

type Device = { name: string; type: string | null; count: number; files: string[] }

function readDevice(line: ConfigLine): Device | null {
  const name = fieldOf(line, 'Name')?.value
  if (name === undefined) return null
  const files = readHostlist((fieldOf(line, 'File') ?? fieldOf(line, 'Files'))?.value) ?? []
  const stated = parseGres(`${name}:${fieldOf(line, 'Count')?.value ?? Math.max(files.length, 1)}`)[0]?.count ?? 1
  return { name, type: fieldOf(line, 'Type')?.value ?? null, count: stated, files }
}

/** How many devices of a line a node keeps. */
function takeDevices(wanted: { name: string; type: string | null; count: number }[] | undefined, device: Device): number {
  if (!wanted) return device.count
  const match = wanted.find(
    ({ name, type, count }) => count > 0 && name === device.name && (type === null || type === device.type),
  )
  const count = Math.min(match?.count ?? 0, device.count)
  if (match) match.count -= count
  return count
}

/** A line of gres.conf for some of its nodes, with some of its devices; null: all. */
function withDevices(line: ConfigLine, names: string[] | null, count: number | null): string {
  let text = names ? setField(line, 'NodeName', foldHostlist(names)) : line.text
  const change = (key: string, value: string) => {
    const [current] = parseConfig(text).lines
    if (fieldOf(current!, key)) text = setField(current!, key, value)
  }
  const device = readDevice(line)!
  if (count !== null && device.files.length === device.count)
    for (const key of ['File', 'Files']) change(key, foldInOrder(device.files.slice(0, count)))
  if (count !== null) change('Count', String(count))
  return text
}
