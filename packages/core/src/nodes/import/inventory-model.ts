import { MAX_ROWS, splitHostPort, tooMany } from './draft.ts'

export type Vars = Record<string, string>
/** An Ansible inventory as written: hosts with their own variables, groups with theirs and their children. */
export type Inventory = {
  hosts: Map<string, { line: number; source: string; vars: Vars; groups: Set<string> }>
  groups: Map<string, { vars: Vars; children: Set<string> }>
}

/** Adds a host and its group to the inventory. A repeated host is merged. */
export function addHost(inventory: Inventory, pattern: string, group: string, vars: Vars, line: number, source: string): void {
  // A colon in brackets belongs to a range such as n[1:8], not to a port. IPv6 addresses are parsed separately.
  const [, plain, after] = /^((?:\[[^\]]*\]|[^:[\]])+)(?::([^:]*))?$/.exec(pattern) ?? []
  const isPlain = plain !== undefined && !pattern.startsWith('[')
  const { host, port } = isPlain ? { host: plain, port: after } : splitHostPort(pattern)
  for (const name of expandRanges(host)) {
    const known = inventory.hosts.get(name) ?? { line, source, vars: {}, groups: new Set<string>() }
    Object.assign(known.vars, port === undefined ? {} : { ansible_port: port }, vars)
    known.groups.add(group)
    inventory.hosts.set(name, known)
    if (inventory.hosts.size > MAX_ROWS) throw tooMany()
  }
}

export function groupOf(inventory: Inventory, name: string) {
  const group = inventory.groups.get(name) ?? { vars: {}, children: new Set<string>() }
  inventory.groups.set(name, group)
  return group
}

/** Expands Ansible's ranges: `gpu[01:64]`, `rack[a:c]`, `n[1:9:2]`. Numbers keep the width of the first one. */
export function expandRanges(pattern: string): string[] {
  const match = /^(.*?)\[([^\]:]+):([^\]:]+)(?::(\d{1,6}))?\](.*)$/.exec(pattern)
  if (!match || pattern.startsWith('[')) return [pattern]
  const [, head, first, last, step = '1', tail] = match as unknown as [string, string, string, string, string?, string?]
  const by = Math.max(1, Number(step))
  let pieces: string[] = []
  if (/^\d{1,9}$/.test(first) && /^\d{1,9}$/.test(last)) {
    if (Number(last) - Number(first) > MAX_ROWS * by) throw tooMany()
    for (let n = Number(first); n <= Number(last); n += by) pieces.push(String(n).padStart(first.length, '0'))
  } else if (/^[a-z]$/i.test(first) && /^[a-z]$/i.test(last))
    for (let c = first.charCodeAt(0); c <= last.charCodeAt(0); c += by) pieces.push(String.fromCharCode(c))
  else pieces = []
  if (pieces.length === 0) return [pattern]
  const rest = expandRanges(`x${tail ?? ''}`).map((text) => text.slice(1))
  if (pieces.length * rest.length > MAX_ROWS) throw tooMany()
  return pieces.flatMap((piece) => rest.map((end) => `${head}${piece}${end}`))
}
