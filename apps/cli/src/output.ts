import { Option } from 'commander'
import { stringify } from 'yaml'

export type Format = 'table' | 'json' | 'yaml'

/** `-o`, which every command that prints objects takes. */
export const outputOption = () =>
  new Option('-o, --output <format>', 'how to print: table for people, json or yaml for programs')
    .choices(['table', 'json', 'yaml'])
    .default('table')

type Column<T> = { title: string; value: (row: T) => string | number | null | undefined }

/** Print `rows` as asked for. JSON and YAML hold the objects as the API gave them, the table its columns. */
export function printRows<T>(rows: T[], columns: Column<T>[], format: Format): void {
  if (format !== 'table') {
    printObject(rows, format)
    return
  }
  if (rows.length === 0) {
    process.stderr.write('Nothing here.\n')
    return
  }
  const cells = rows.map((row) => columns.map((c) => clean(c.value(row))))
  const widths = columns.map((c, i) => Math.max(c.title.length, ...cells.map((line) => line[i]!.length)))
  const line = (values: string[]) =>
    values
      .map((v, i) => v.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  process.stdout.write(`${[line(columns.map((c) => c.title)), ...cells.map(line)].join('\n')}\n`)
}

/** Print one object; as a table, one line per field. */
export function printObject(object: unknown, format: Format, fields?: [string, string | number | null | undefined][]): void {
  if (format !== 'table') {
    process.stdout.write(format === 'json' ? `${JSON.stringify(object, null, 2)}\n` : stringify(object))
    return
  }
  const lines = fields ?? Object.entries(object as Record<string, string>)
  const width = Math.max(...lines.map(([name]) => name.length))
  for (const [name, value] of lines) process.stdout.write(`${name.padEnd(width)}  ${clean(value)}\n`)
}

// Text from a node must not move the cursor or colour the terminal.
const clean = (value: string | number | null | undefined) =>
  value === null || value === undefined || value === '' ? '-' : String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')

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
