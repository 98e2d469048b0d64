import { once } from 'node:events'
import { Option } from 'commander'
import { stringify } from 'yaml'

export type Format = 'table' | 'json' | 'yaml'

/** `-o`, which every command that prints objects takes. */
export const outputOption = (description = 'how to print: table for people, json or yaml for programs') =>
  new Option('-o, --output <format>', description).choices(['table', 'json', 'yaml']).default('table')

const GAP = '  '
type Value = string | number | null | undefined
type Column<T> = {
  title: string
  value: (row: T) => Value
  /** Left out, from the right, while the table is wider than the terminal. */
  spare?: true
}

/**
 * Print `rows` as asked for. JSON and YAML hold the objects as the API gave them, the table its columns.
 * @param empty what to say instead of a table without rows
 */
export function printRows<T>(rows: T[], columns: Column<T>[], format: Format, empty = 'Nothing here.'): void {
  if (format !== 'table') printObject(rows, format)
  else if (rows.length === 0) process.stderr.write(`${empty}\n`)
  else process.stdout.write(`${table(rows, columns, process.stdout.isTTY ? process.stdout.columns : undefined).join('\n')}\n`)
}

/** Lines of a table, its head first. @param width of the terminal; without it everything is shown, as programs want it */
export function table<T>(rows: T[], columns: Column<T>[], width = Number.POSITIVE_INFINITY): string[] {
  const filled = columns.map((column) => {
    const cells = [column.title, ...rows.map((row) => clean(column.value(row)))]
    return { cells, width: Math.max(...cells.map((cell) => cell.length)), spare: column.spare }
  })
  const total = () => filled.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length)
  while (total() > width) {
    const last = filled.findLastIndex((column) => column.spare)
    if (last < 0) break
    filled.splice(last, 1)
  }
  const line = (i: number) => filled.map((column) => column.cells[i]!.padEnd(column.width)).join(GAP)
  return Array.from({ length: rows.length + 1 }, (_, i) => line(i).trimEnd())
}

/** Print one object; as a table, one line per field. */
export function printObject(object: unknown, format: Format, fields?: [string, Value][]): void {
  if (format !== 'table')
    return void process.stdout.write(
      format === 'json' ? `${JSON.stringify(object, null, 2)}\n` : stringify(object, { lineWidth: 0 }),
    )
  const lines = fields ?? Object.entries(object as Record<string, string>)
  const width = Math.max(...lines.map(([name]) => name.length))
  for (const [name, value] of lines) process.stdout.write(`${name.padEnd(width)}  ${clean(value)}\n`)
}

// Text from a node must not move the cursor or colour the terminal.
const clean = (value: Value) =>
  value === null || value === undefined || value === '' ? '-' : String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')

/** Write to standard output, and wait while its reader cannot keep up: a log can be far larger than the memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** `text` as one word of a shell, for commands that people are told to type. */
export const word = (text: string) => (/^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** Host and port as they are typed, without the port that goes without saying. */
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
