import { once } from 'node:events'
import { stringify } from 'yaml'
import type { Output } from './command.ts'

const GAP = '  '
type Value = string | number | null | undefined
export type Column<T> = {
  title: string
  value: (row: T) => Value
  /** Hidden, from the right, while the table is wider than the terminal; `-o wide` always prints it. */
  wide?: true
}

/** Whether the output is a table for people. */
export const isTable = ({ output }: Output): boolean => output === 'table' || output === 'wide'

/**
 * Prints rows in the requested format. JSON and YAML contain the objects of the API; `name` prints the first column.
 * @param empty message on stderr instead of an empty table
 */
export function printRows<T>(rows: T[], columns: Column<T>[], output: Output, empty = 'None found.'): void {
  if (output.output === 'name') printLines(rows.map((row) => clean(columns[0]!.value(row))))
  else if (!isTable(output)) printObject(rows, output)
  else if (rows.length === 0) process.stderr.write(`${empty}\n`)
  else printTable(rows, columns, output)
}

function printTable<T>(rows: T[], columns: Column<T>[], output: Output): void {
  const width = output.output === 'table' && process.stdout.isTTY ? process.stdout.columns : undefined
  const { lines, hidden } = table(rows, columns, width)
  printLines(output.headers ? lines : lines.slice(1))
  if (hidden.length > 0) process.stderr.write(`Hidden columns: ${hidden.join(', ')}. Widen the terminal or use -o wide.\n`)
}

const printLines = (lines: string[]): void => {
  for (const line of lines) process.stdout.write(`${line}\n`)
}

/**
 * Lines of a table, header first, and the titles of hidden columns.
 * @param width of the terminal; without it no column is hidden
 */
export function table<T>(
  rows: T[],
  columns: Column<T>[],
  width = Number.POSITIVE_INFINITY,
): { lines: string[]; hidden: string[] } {
  const shown = columns.map(({ title, value, wide }) => {
    const cells = [title, ...rows.map((row) => clean(value(row)))]
    return { title, cells, width: Math.max(...cells.map((cell) => cell.length)), wide }
  })
  const hidden: string[] = []
  const total = () => shown.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length)
  while (total() > width) {
    const last = shown.findLastIndex((column) => column.wide)
    if (last < 0) break
    hidden.unshift(...shown.splice(last, 1).map((column) => column.title))
  }
  const line = (i: number) => shown.map((column) => column.cells[i]!.padEnd(column.width)).join(GAP)
  return { lines: Array.from({ length: rows.length + 1 }, (_, i) => line(i).trimEnd()), hidden }
}

/** Prints one object. A table has one line per field; `name` prints the value of the first field. */
export function printObject(object: unknown, { output }: Output, fields?: [string, Value][]): void {
  if (output === 'json') process.stdout.write(`${toJson(object, 2)}\n`)
  else if (output === 'yaml') process.stdout.write(plain(stringify(object, { lineWidth: 0 }), false))
  else {
    const lines = fields ?? Object.entries(object as Record<string, string>)
    const width = Math.max(...lines.map(([name]) => name.length))
    printLines(
      output === 'name' ? [clean(lines[0]?.[1])] : lines.map(([name, value]) => `${name.padEnd(width)}  ${clean(value)}`),
    )
  }
}

// Text from a node must not move the cursor or color the terminal.
const clean = (value: Value) =>
  value === null || value === undefined || value === '' ? '-' : String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')

/** JSON that also escapes the control characters U+007F to U+009F, which terminals interpret. */
export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Removes control sequences, because nodes wrote the text. Colors are kept for a terminal. */
export function plain(text: string, colors = hasColors()): string {
  // biome-ignore format: one alternative per kind of sequence
  const sequence = /\u001b\[[0-9;:]*m|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g
  return text.replace(sequence, (found) => (colors && /^\u001b\[[0-9;:]*m$/.test(found) ? found : ''))
}

/** Whether standard output accepts colors: a terminal, and NO_COLOR is not set. */
export const hasColors = (): boolean => process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

/** Writes to standard output and waits while its reader is slow, because a log can be larger than memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Quotes `text` as one word of a shell, for commands in messages. */
export const shellQuote = (text: string) => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** `1 node`, `2 nodes`. */
export const count = (n: number, noun: string): string => `${n} ${n === 1 ? noun : `${noun}s`}`

/** Host and port, without the default port 22. */
export const address = (host: string, port: number | null) =>
  port === null || port === 22 ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
/** 85899345920 -> `80 GiB`. */
export function bytes(value: number | null | undefined): string | null {
  if (value === null || value === undefined) return null
  const power = value > 0 ? Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10)) : 0
  const scaled = value / 1024 ** power
  return `${scaled >= 100 || Number.isInteger(scaled) ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[power]}`
}

/** An ISO time as `3 min ago`, or null. */
export function ago(iso: string | null | undefined, now = Date.now()): string | null {
  if (!iso) return null
  const s = Math.max(0, Math.round((now - Date.parse(iso)) / 1000))
  if (s < 90) return `${s} s ago`
  if (s < 5400) return `${Math.round(s / 60)} min ago`
  return s < 172_800 ? `${Math.round(s / 3600)} h ago` : `${Math.round(s / 86_400)} d ago`
}

/** 83500 ms -> `1:23`. */
export function clock(ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined) return null
  const s = Math.round(ms / 1000)
  const mm = Math.floor((s % 3600) / 60)
  const ss = String(s % 60).padStart(2, '0')
  return s >= 3600 ? `${Math.floor(s / 3600)}:${String(mm).padStart(2, '0')}:${ss}` : `${mm}:${ss}`
}
