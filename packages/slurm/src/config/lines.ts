import { type ConfigLine, fieldOf } from './parse.ts'

export type Replacement = { start: number; end: number; text: string }

/** Replaces parts of a line; everything else, comments included, stays. */
export function rewrite(text: string, replacements: Replacement[]): string {
  const ordered = [...replacements].sort((a, b) => b.start - a.start)
  return ordered.reduce((line, { start, end, text }) => line.slice(0, start) + text + line.slice(end), text)
}

/** Sets a field of a line, at its end when the line does not have it. */
export function setField(line: ConfigLine, key: string, value: string): string {
  const field = fieldOf(line, key)
  if (field) return rewrite(line.text, [{ start: field.start, end: field.end, text: value }])
  const at = line.fields.at(-1)!.end
  return rewrite(line.text, [{ start: at, end: at, text: ` ${key}=${value}` }])
}

/** Removes a field that is not the first of its line. */
export function removeField(line: ConfigLine, key: string): string {
  const removed = line.fields.filter((field, index) => index > 0 && field.key.toLowerCase() === key.toLowerCase())
  return rewrite(
    line.text,
    removed.map((field) => ({ start: line.fields[line.fields.indexOf(field) - 1]!.end, end: field.end, text: '' })),
  )
}

export const endLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
