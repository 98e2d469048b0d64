import { type Draft, type DraftFields, draft } from './draft.ts'
import { readIni } from './inventory-ini.ts'
import type { Inventory, Vars } from './inventory-model.ts'
import { readYaml } from './inventory-yaml.ts'

/** Imported Ansible variables. The last one of a line takes precedence. */
const TAKEN: Record<string, keyof DraftFields> = {
  ansible_ssh_host: 'host',
  ansible_host: 'host',
  ansible_ssh_port: 'port',
  ansible_port: 'port',
  ansible_ssh_user: 'sshUser',
  ansible_user: 'sshUser',
  ansible_connection: 'connectionType',
}
const SECRET = /pass(word|wd)?$|private_key|secret|token/i

/** Secrets in host lines, which results would show. */
const SECRET_PAIR = /([^\s=]*(?:pass|private_key|secret|token)[^\s=]*=)("[^"]*"|'[^']*'|\S+)/gi

/**
 * Parses an Ansible inventory, INI or YAML. Each host becomes one draft with its groups and their parents. Address, port, user and
 * connection come from its variables or those of its groups. Other variables are ignored with a note.
 */
export function parseInventory(text: string): Draft[] {
  const first =
    text
      .replace(/^\uFEFF/, '')
      .split(/\r?\n/)
      .find((line) => /^\s*[^\s#;]/.test(line)) ?? ''
  const isYaml = /^\s*(---|\{|["']?[\w.-]+["']?:\s*([{#].*)?$)/.test(first)
  const inventory = isYaml ? readYaml(text) : readIni(text)
  const depths = depthsOf(inventory)
  const parents = new Map<string, string[]>()
  for (const [name, { children }] of inventory.groups)
    for (const child of children) parents.set(child, [...(parents.get(child) ?? []), name])
  return [...inventory.hosts].map(([name, host]) => {
    const groups = withParents(host.groups, parents)
    // `all` first, then outer before inner groups: the nearest group takes precedence.
    const order = ['all', ...groups].sort((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0) || (a < b ? -1 : 1))
    const inherited = Object.assign({}, ...order.map((group) => inventory.groups.get(group)?.vars ?? {})) as Vars
    return toDraft(name, host, inherited, groups)
  })
}

function withParents(direct: Set<string>, parents: Map<string, string[]>): string[] {
  const all = new Set(direct)
  for (const group of all) for (const parent of parents.get(group) ?? []) all.add(parent)
  all.delete('all')
  all.delete('ungrouped')
  return [...all]
}

/** Depth of each group below `all`; limited by the number of groups, because groups may be cyclic. */
function depthsOf({ groups }: Inventory): Map<string, number> {
  const depths = new Map([...groups.keys()].map((name) => [name, name === 'all' ? 0 : 1]))
  for (let round = 0, changed = true; changed && round < groups.size; round++) {
    changed = false
    for (const [name, { children }] of groups)
      for (const child of children)
        if ((depths.get(child) ?? 0) <= (depths.get(name) ?? 0)) {
          depths.set(child, depths.get(name)! + 1)
          changed = true
        }
  }
  return depths
}

function toDraft(name: string, host: { line: number; source: string; vars: Vars }, inherited: Vars, groups: string[]): Draft {
  const fields: DraftFields = { name, host: name }
  for (const vars of [inherited, host.vars])
    for (const [key, field] of Object.entries(TAKEN)) if (vars[key] !== undefined) Object.assign(fields, { [field]: vars[key] })
  if (fields.connectionType && ['smart', 'paramiko', 'paramiko_ssh', 'ansible.builtin.ssh'].includes(fields.connectionType))
    fields.connectionType = 'ssh'
  const row = draft(host.line, host.source.replace(SECRET_PAIR, '$1…'), fields)
  for (const group of groups) {
    const fitting = group.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_')
    row.groups.push(fitting)
    if (fitting !== group) row.notes.push({ path: 'groups', message: `the group ${group} is renamed to ${fitting}` })
  }
  for (const key of Object.keys(host.vars).filter((k) => !Object.hasOwn(TAKEN, k)))
    row.notes.push({
      path: key.slice(0, 60),
      message: SECRET.test(key) ? 'secrets of inventories are ignored; save it as a credential' : 'variable ignored',
    })
  return row
}
