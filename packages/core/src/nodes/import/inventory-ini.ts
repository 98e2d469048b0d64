import { unreadable } from './draft.ts'
import { addHost, groupOf, type Inventory, type Vars } from './inventory-model.ts'

// Handwritten, because INI libraries do not parse Ansible's dialect (ranges, :vars, :children, shell quoting).

/** Splits a host line like a shell: spaces separate words, quotes group them, an unquoted `#` starts a comment. */
function splitWords(line: string): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let quote = ''
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!
    if (quote) {
      if (char === quote) quote = ''
      else word += char === '\\' && quote === '"' && i + 1 < line.length ? line[++i]! : char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else if (char === '#' && word === null) break
    else word = (word ?? '') + char
  }
  if (quote) return null
  if (word !== null) words.push(word)
  return words
}

/** Parses `key=value` words; null when a word is not a pair. */
function toVars(words: string[]): Vars | null {
  const vars: Vars = {}
  for (const word of words) {
    const at = word.indexOf('=')
    if (at < 1) return null
    vars[word.slice(0, at).trim()] = word.slice(at + 1).trim()
  }
  return vars
}

/** Parses Ansible's INI inventory. @throws InvalidInput at text, with the line */
export function readIni(text: string): Inventory {
  const inventory: Inventory = { hosts: new Map(), groups: new Map() }
  let group = 'ungrouped'
  let section = ''
  for (const [i, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const heading = /^\[([^\]:]+)(?::(\w+))?\]\s*([#;].*)?$/.exec(line)
    if (heading) {
      group = heading[1]!.trim()
      section = heading[2] ?? ''
      if (!['', 'vars', 'children', 'hosts'].includes(section))
        throw unreadable(`the section [${group}:${section}] must be [${group}], [${group}:vars] or [${group}:children]`, i + 1)
      groupOf(inventory, group)
    } else if (line.startsWith('[')) {
      throw unreadable('a section must be written [name], [name:vars] or [name:children]', i + 1)
    } else if (section === 'vars') {
      const [, key, value] = /^([^=]+)=(.*)$/.exec(line) ?? []
      if (key === undefined) throw unreadable('a variable must be written key=value', i + 1)
      groupOf(inventory, group).vars[key.trim()] = value!.trim().replace(/^(["'])(.*)\1$/, '$2')
    } else if (section === 'children') {
      const [child = line] = splitWords(line) ?? []
      groupOf(inventory, child)
      groupOf(inventory, group).children.add(child)
    } else {
      const words = splitWords(line)
      const vars = words && toVars(words.slice(1))
      if (!words || !vars) throw unreadable('a host must be written `name key=value …`, with quotes in pairs', i + 1)
      addHost(inventory, words[0]!, group, vars, i + 1, line)
    }
  }
  return inventory
}
