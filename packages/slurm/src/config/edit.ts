import { foldHostlist, foldInOrder } from '../hostlist.ts'
import { PAIRED_KEYS } from './check/slurm-conf.ts'
import { gresLines, nodeLine, ROOT_SWITCH } from './create.ts'
import { endLine, type Replacement, rewrite, setField } from './lines.ts'
import { nodeNames, readDefaults, readEntries, readHostlist, readSetting } from './model.ts'
import { type ConfigLine, fieldOf, type ParsedConfig, parseConfig, startsWithKey } from './parse.ts'
import { ConfigError, type ConfigFileName, type ConfigFiles, type ConfigNode } from './types.ts'

const isDefault = (line: ConfigLine) => line.fields[0]!.value.toLowerCase() === 'default'
const join = (texts: readonly string[]) => texts.join('')

/**
 * Adds nodes after the last node, and to partitions.
 * @throws ConfigError a node exists already, or a partition does not
 */
export function addNodes(files: ConfigFiles, nodes: readonly ConfigNode[], partitionNames: readonly string[]): ConfigFiles {
  const config = parseConfig(files['slurm.conf'])
  const existing = new Set(nodeNames(config))
  const twice = nodes.find(({ name }) => existing.has(name))
  if (twice) throw new ConfigError(`The configuration has the node ${twice.name} already.`)
  const partitions = readEntries(config, 'PartitionName')
  const unknown = partitionNames.find((name) => !partitions.some((partition) => partition.name === name))
  if (unknown !== undefined) throw new ConfigError(`The configuration has no partition ${unknown}.`)
  const names = nodes.map(({ name }) => name)
  const inherited = readDefaults(config, 'NodeName')
  const added = join(nodes.map((node) => `${nodeLine(node, inherited)}\n`))
  const lastNode = config.lines.findLastIndex((line) => startsWithKey(line, 'NodeName'))
  const firstPartition = config.lines.findIndex((line) => startsWithKey(line, 'PartitionName'))
  const before = lastNode >= 0 ? lastNode + 1 : firstPartition >= 0 ? firstPartition : config.lines.length
  const byLine = new Map(partitions.map((partition) => [partition.line, partition]))
  const texts = config.lines.map((line) => {
    const partition = byLine.get(line)
    return partition && partitionNames.includes(partition.name)
      ? addToPartition(line, partition.values.get('nodes'), names)
      : line.text
  })
  const head = join(texts.slice(0, before))
  const slurmConf = (added === '' ? head : endLine(head) + added) + join(texts.slice(before))
  const resources = nodes.flatMap(({ gres }) => gres.map(({ name }) => name))
  return addGresTypes(
    { ...files, 'slurm.conf': slurmConf, ...addDevices(files, nodes), ...addToTopology(files, nodes) },
    resources,
  )
}

function addToPartition(line: ConfigLine, current: string | undefined, names: string[]): string {
  const members = readHostlist(current)
  if (members?.some((name) => name.toUpperCase() === 'ALL')) return line.text
  const value = members ? foldHostlist([...members, ...names]) : [current, foldHostlist(names)].join(',')
  return setField(line, 'Nodes', value)
}

function addDevices(files: ConfigFiles, nodes: readonly ConfigNode[]): Partial<ConfigFiles> {
  const added = gresLines(nodes)
  return added.length === 0 ? {} : { 'gres.conf': `${endLine(files['gres.conf'] ?? '')}${added.join('\n')}\n` }
}

/** Adds names of resources. slurmctld must know the types of GRES, and records only those that accounting names. */
export function addGresTypes(files: ConfigFiles, resources: readonly string[]): ConfigFiles {
  const names = [...new Set(resources)]
  const known = withListed(files, 'GresTypes', names)
  const isRecorded = readSetting(parseConfig(files['slurm.conf']), 'AccountingStorageType') === 'accounting_storage/slurmdbd'
  const recorded = names.map((name) => `gres/${name}`)
  return isRecorded ? withListed(known, 'AccountingStorageTRES', recorded) : known
}

/** Adds values to a setting of slurm.conf that is a list. */
function withListed(files: ConfigFiles, key: string, values: readonly string[]): ConfigFiles {
  const config = parseConfig(files['slurm.conf'])
  const listed = (readSetting(config, key) ?? '').split(',').filter(Boolean)
  const missing = values.filter((value) => !listed.includes(value))
  if (missing.length === 0) return files
  const value = [...listed, ...missing].join(',')
  const line = config.lines.findLast((line) => startsWithKey(line, key))
  const field = line?.fields[0]
  const texts = config.lines.map((other) =>
    other === line && field ? rewrite(other.text, [{ start: field.start, end: field.end, text: value }]) : other.text,
  )
  if (!line) {
    const firstNode = config.lines.findIndex((other) => startsWithKey(other, 'NodeName'))
    texts.splice(Math.max(firstNode, 0), 0, `${key}=${value}\n`)
  }
  return { ...files, 'slurm.conf': join(texts) }
}

/**
 * Adds nodes to their switches or blocks. Switches that do not exist yet are added, below the one above all others.
 * @throws ConfigError a block does not exist
 */
function addToTopology(files: ConfigFiles, nodes: readonly ConfigNode[]): Partial<ConfigFiles> {
  const text = files['topology.conf']
  if (text === undefined) return {}
  const { lines } = parseConfig(text)
  const left = Map.groupBy(
    nodes.filter(({ switchName }) => switchName != null),
    ({ switchName }) => switchName!,
  )
  const texts = lines.map((line) => {
    const isSwitch = startsWithKey(line, 'SwitchName') || startsWithKey(line, 'BlockName')
    const names = isSwitch ? (left.get(line.fields[0]!.value) ?? []).map(({ name }) => name) : []
    if (names.length === 0) return line.text
    left.delete(line.fields[0]!.value)
    return setField(line, 'Nodes', foldHostlist([...(readHostlist(fieldOf(line, 'Nodes')?.value) ?? []), ...names]))
  })
  const [unknown] = left
  if (unknown && lines.some((line) => startsWithKey(line, 'BlockName')))
    throw new ConfigError(
      `topology.conf has no block ${unknown[0]}, which the label switch of ${foldHostlist(unknown[1].map(({ name }) => name))} names. Change the label, or add the block to the text.`,
    )
  const added = [...left].map(([name, own]) => `SwitchName=${name} Nodes=${foldHostlist(own.map(({ name }) => name))}\n`)
  const changed = `${endLine(join(texts))}${join(added)}`
  return { 'topology.conf': added.length > 0 ? joinSwitches(changed, [...left.keys()]) : join(texts) }
}

/** Puts new switches below the top of the tree; the first two switches get one. @throws ConfigError the tree has several */
function joinSwitches(text: string, added: readonly string[]): string {
  const { lines } = parseConfig(text)
  const switches = lines.filter((line) => startsWithKey(line, 'SwitchName'))
  const below = new Set(switches.flatMap((line) => readHostlist(fieldOf(line, 'Switches')?.value) ?? []))
  const tops = switches.filter((line) => !below.has(line.fields[0]!.value) && !added.includes(line.fields[0]!.value))
  if (tops.length > 1) throw new ConfigError(`topology.conf has no switch ${added[0]}. Add it to the text.`)
  const [top] = tops
  if (!top) return text
  if (!fieldOf(top, 'Switches'))
    return `${text}SwitchName=${ROOT_SWITCH} Switches=${foldHostlist([top.fields[0]!.value, ...added])}\n`
  const list = foldHostlist([...(readHostlist(fieldOf(top, 'Switches')!.value) ?? []), ...added])
  return join(lines.map((line) => (line === top ? setField(line, 'Switches', list) : line.text)))
}

/** Lists of nodes: the first key of their line, and the key that holds the list. */
const NODE_LISTS: [file: ConfigFileName, first: string, key: string][] = [
  ['slurm.conf', 'PartitionName', 'Nodes'],
  ['slurm.conf', 'NodeSet', 'Nodes'],
  ['slurm.conf', 'DownNodes', 'DownNodes'],
  ['slurm.conf', 'SuspendExcNodes', 'SuspendExcNodes'],
  ['gres.conf', 'NodeName', 'NodeName'],
  ['topology.conf', 'SwitchName', 'Nodes'],
  ['topology.conf', 'BlockName', 'Nodes'],
]

/** Removes exactly these nodes from all files. Lists are split where needed. Names that no list has are ignored. */
export function removeNodes(files: ConfigFiles, names: readonly string[]): ConfigFiles {
  const gone = new Set(names)
  const result: ConfigFiles = { ...files }
  for (const file of ['slurm.conf', 'gres.conf', 'topology.conf'] as const) {
    const text = files[file]
    if (text === undefined) continue
    const config = parseConfig(text)
    const emptied = new Set<string>()
    const texts = config.lines.map((line) => {
      if (file === 'slurm.conf' && startsWithKey(line, 'NodeName')) return removeFromNodeLine(line, gone)
      const list = NODE_LISTS.find(([owner, first]) => owner === file && startsWithKey(line, first))
      return list ? removeFromList(config, line, list[2], { gone, emptied }) : line.text
    })
    result[file] = emptied.size > 0 ? removeSwitches(join(texts), emptied) : join(texts)
  }
  return result
}

const removeFromNodeLine = (line: ConfigLine, gone: ReadonlySet<string>): string =>
  isDefault(line) ? line.text : selectNodes(line, (name) => !gone.has(name))

/** A line of nodes with some of its nodes, and their values of lists; empty when it has none of them. */
export function selectNodes(line: ConfigLine, isKept: (name: string) => boolean): string {
  const field = line.fields[0]!
  const names = readHostlist(field.value)
  if (!names || names.every(isKept)) return line.text
  const kept = names.flatMap((name, index) => (isKept(name) ? [index] : []))
  if (kept.length === 0) return ''
  const fold = (list: readonly string[]) => foldInOrder(kept.map((index) => list[index]!))
  const replacements: Replacement[] = [{ start: field.start, end: field.end, text: fold(names) }]
  for (const key of PAIRED_KEYS) {
    const paired = fieldOf(line, key)
    const list = readHostlist(paired?.value)
    if (paired && list?.length === names.length) replacements.push({ start: paired.start, end: paired.end, text: fold(list) })
  }
  return rewrite(line.text, replacements)
}

type Removal = { gone: ReadonlySet<string>; emptied: Set<string> }

function removeFromList(config: ParsedConfig, line: ConfigLine, key: string, { gone, emptied }: Removal): string {
  const own = fieldOf(line, key)
  const members = readHostlist(own?.value)
  if (!own || !members?.some((name) => gone.has(name))) return line.text
  const kept = members.filter((name) => !gone.has(name))
  if (kept.length > 0) return rewrite(line.text, [{ start: own.start, end: own.end, text: foldHostlist(kept) }])
  const first = line.fields[0]!
  if (own === first) return ''
  if (startsWithKey(line, 'SwitchName') || startsWithKey(line, 'BlockName')) {
    emptied.add(first.value)
    return ''
  }
  if (startsWithKey(line, 'NodeSet') && !fieldOf(line, 'Feature')) return ''
  // A partition may have no nodes. It must not inherit those of DEFAULT.
  if (readDefaults(config, first.key).has(key.toLowerCase())) return setField(line, key, '""')
  const previous = line.fields[line.fields.indexOf(own) - 1]!
  return rewrite(line.text, [{ start: previous.end, end: own.end, text: '' }])
}

/** Removes switches without nodes from the lists of others, and those without any other switch, too. */
function removeSwitches(text: string, names: ReadonlySet<string>): string {
  const emptied = new Set<string>()
  const texts = parseConfig(text).lines.map((line) => {
    const field = startsWithKey(line, 'SwitchName') ? fieldOf(line, 'Switches') : undefined
    const members = readHostlist(field?.value)
    if (!field || !members?.some((name) => names.has(name))) return line.text
    const kept = members.filter((name) => !names.has(name))
    if (kept.length > 0) return rewrite(line.text, [{ start: field.start, end: field.end, text: foldHostlist(kept) }])
    emptied.add(line.fields[0]!.value)
    return ''
  })
  return emptied.size > 0 ? removeSwitches(join(texts), emptied) : join(texts)
}
