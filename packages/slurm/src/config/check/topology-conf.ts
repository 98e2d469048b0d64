import { BLOCK_KEYS, SWITCH_KEYS, TOPOLOGY_CONF_KEYS } from '../keys.ts'
import { readHostlist } from '../model.ts'
import { fieldOf, type ParsedConfig, startsWithKey } from '../parse.ts'
import { checkLines } from './lines.ts'
import { listed, type Report } from './report.ts'

/** From this release on, nodes without a switch can run jobs. */
const SWITCH_IS_OPTIONAL = 26.05

/** Checks topology.conf: its switches, and that it has each node of slurm.conf. */
export function checkTopologyConf(
  report: Report,
  config: ParsedConfig,
  plugin: string,
  nodes: Set<string>,
  release: number,
): void {
  checkLines(report, config, { keys: TOPOLOGY_CONF_KEYS, lines: { switchname: SWITCH_KEYS, blockname: BLOCK_KEYS } }, release)
  const lines = config.lines.filter((line) => startsWithKey(line, 'SwitchName') || startsWithKey(line, 'BlockName'))
  const names = new Set<string>()
  const listedNodes = new Set<string>()
  for (const line of lines) {
    const { key, value } = line.fields[0]!
    for (const name of readHostlist(value) ?? []) {
      if (names.has(name)) report.error(line, key, `${key}=${name} is defined twice.`)
      names.add(name)
    }
    const list = fieldOf(line, 'Nodes')
    const members = readHostlist(list?.value)
    if (!members) {
      report.error(line, 'Nodes', `The list of nodes is malformed: ${list!.value}.`)
      continue
    }
    const unknown = members.filter((name) => !nodes.has(name))
    if (unknown.length > 0) report.error(line, 'Nodes', `slurm.conf does not define ${listed(unknown)}.`)
    for (const name of members) listedNodes.add(name)
  }
  for (const line of lines) {
    const unknown = (readHostlist(fieldOf(line, 'Switches')?.value) ?? []).filter((name) => !names.has(name))
    if (unknown.length > 0) report.error(line, 'Switches', `No line defines the switches ${listed(unknown)}.`)
  }
  if (!/^topology\/(tree|block)$/.test(plugin)) return
  const missing = [...nodes].filter((name) => !listedNodes.has(name))
  if (missing.length === 0) return
  if (release >= SWITCH_IS_OPTIONAL) report.warn(null, 'Nodes', `No switch has ${listed(missing)}.`)
  else report.error(null, 'Nodes', `No switch has ${listed(missing)}, so they would get no jobs.`)
}
