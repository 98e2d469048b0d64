/** `Key=Value` of a line. */
export interface ConfigField {
  key: string
  /** Without quotes. */
  value: string
  /** Position of the value, with its quotes, in the line's text. */
  start: number
  end: number
  /** Position of the key in the line's text. */
  keyStart: number
}

/** A logical line: physical lines that end with a backslash continue on the next one. */
export interface ConfigLine {
  /** Of its first physical line, from 1. */
  number: number
  /** As written, with comments and line ends. */
  text: string
  fields: ConfigField[]
  /** The file of an Include directive. */
  include: string | null
  /** What is left that is no `Key=Value`; null for a line that can be read. */
  rest: string | null
}

export interface ParsedConfig {
  lines: ConfigLine[]
}

const FIELD = /[ \t\n\v\f\r]*([A-Za-z0-9_.]+)[ \t\n\v\f\r]*[-*+/]?=[ \t\n\v\f\r]*("[^"]*"|[^ \t\n\v\f\r]+)(?=[ \t\n\v\f\r]|$)/y
const INCLUDE = /^[ \t\n\v\f\r]*include[ \t\n\v\f\r]+([^ \t\n\v\f\r]+)[ \t\n\v\f\r]*$/i

/** Reads a configuration file as Slurm's own parser does. Never fails: what cannot be read is in `rest`. The texts joined are the file. */
export function parseConfig(text: string): ParsedConfig {
  const lines: ConfigLine[] = []
  const physical = text.split(/(?<=\n)/)
  for (let i = 0; i < physical.length; ) {
    const number = i + 1
    let raw = ''
    let content = ''
    const origins: number[] = []
    for (; i < physical.length; ) {
      const line = physical[i++]!
      const { length, continues } = effectiveLength(line)
      for (let at = 0; at < length; at++) origins.push(raw.length + at)
      content += line.slice(0, length)
      raw += line
      if (!continues) break
    }
    lines.push({ number, text: raw, ...readFields(...removeEscapes(content, origins)) })
  }
  return { lines }
}

/** How much of a physical line counts, without its comment and its continuation mark. */
function effectiveLength(line: string): { length: number; continues: boolean } {
  let length = line.length
  let backslashes = 0
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '#' && backslashes % 2 === 0) {
      length = at
      break
    }
    backslashes = line[at] === '\\' ? backslashes + 1 : 0
  }
  const [, marks = ''] = /(\\*)[ \t\n\v\f\r]*$/.exec(line.slice(0, length))!
  if (marks.length % 2 === 0) return { length, continues: false }
  return { length: line.slice(0, length).trimEnd().length - 1, continues: true }
}

/** Removes escaping backslashes. */
function removeEscapes(content: string, origins: number[]): [string, number[]] {
  if (!content.includes('\\')) return [content, origins]
  let plain = ''
  const plainOrigins: number[] = []
  for (let at = 0; at < content.length; at++) {
    if (content[at] === '\\') at++
    if (at >= content.length) break
    plain += content[at]
    plainOrigins.push(origins[at]!)
  }
  return [plain, plainOrigins]
}

function readFields(content: string, origins: number[]): Pick<ConfigLine, 'fields' | 'include' | 'rest'> {
  const include = INCLUDE.exec(content)?.[1]
  if (include !== undefined) return { fields: [], include, rest: null }
  const fields: ConfigField[] = []
  let at = 0
  for (;;) {
    FIELD.lastIndex = at
    const match = FIELD.exec(content)
    if (!match) break
    const [, key, value] = match as unknown as [string, string, string]
    at = FIELD.lastIndex
    const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"')
    fields.push({
      key,
      value: isQuoted ? value.slice(1, -1) : value,
      start: origins[at - value.length]!,
      end: origins[at - 1]! + 1,
      keyStart: origins[match.index + match[0].indexOf(key)]!,
    })
  }
  const rest = content.slice(at).trim()
  return { fields, include: null, rest: rest === '' ? null : rest }
}

/** The value of a key on a line, whatever the case of the key; the last one counts. */
export const fieldOf = (line: ConfigLine, key: string): ConfigField | undefined =>
  line.fields.findLast((field) => field.key.toLowerCase() === key.toLowerCase())

/** Whether the line's first key is `key`. */
export const startsWithKey = (line: ConfigLine, key: string): boolean => line.fields[0]?.key.toLowerCase() === key.toLowerCase()
