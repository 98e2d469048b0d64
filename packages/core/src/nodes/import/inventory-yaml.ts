import { isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { unreadable } from './draft.ts'
import { addHost, groupOf, type Inventory, type Vars } from './inventory-model.ts'

const MAX_DEPTH = 50

/** Parses Ansible's YAML inventory: groups with hosts, vars and children. @throws InvalidInput at text, with the line */
export function readYaml(text: string): Inventory {
  const lines = new LineCounter()
  // Accepts tags such as !vault and !unsafe as plain text, because their values are not imported.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, logLevel: 'silent' })
  const error = document.errors[0]
  if (error) throw unreadable(error.message.split('\n')[0]!.replace(/ at line.*$/, ''), lines.linePos(error.pos[0]).line)
  const inventory: Inventory = { hosts: new Map(), groups: new Map() }
  const lineOf = (pair: Pair) => (isScalar(pair.key) && pair.key.range ? lines.linePos(pair.key.range[0]).line : 1)
  const pairs = (map: unknown, line: number): Pair[] => {
    if (map === null || (isScalar(map) && map.value === null)) return []
    if (!isMap(map)) throw unreadable('must be a mapping, as in Ansible inventories', line)
    return (map as YAMLMap).items as Pair[]
  }
  const text1 = (value: unknown) => (isScalar(value) ? String(value.value) : JSON.stringify(value))
  const varsOf = (map: unknown, line: number): Vars =>
    Object.fromEntries(pairs(map, line).map((pair) => [text1(pair.key), text1(pair.value)]))

  const readGroup = (name: string, body: unknown, line: number, depth: number) => {
    if (depth > MAX_DEPTH) throw unreadable(`groups lie more than ${MAX_DEPTH} deep`, line)
    const group = groupOf(inventory, name)
    for (const pair of pairs(body, line)) {
      const key = text1(pair.key)
      if (key === 'hosts')
        for (const host of pairs(pair.value, lineOf(pair)))
          addHost(inventory, text1(host.key), name, varsOf(host.value, lineOf(host)), lineOf(host), text1(host.key))
      else if (key === 'vars') Object.assign(group.vars, varsOf(pair.value, lineOf(pair)))
      else if (key === 'children')
        for (const child of pairs(pair.value, lineOf(pair))) {
          group.children.add(text1(child.key))
          readGroup(text1(child.key), child.value, lineOf(child), depth + 1)
        }
      else throw unreadable(`a group has hosts, vars and children, but no ${key.slice(0, 60)}`, lineOf(pair))
    }
  }
  for (const pair of pairs(document.contents, 1)) readGroup(text1(pair.key), pair.value, lineOf(pair), 0)
  return inventory
}
