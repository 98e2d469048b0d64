import { findKey, type KeyTable, valueProblem } from '../key-table.ts'
import type { ConfigLine, ParsedConfig } from '../parse.ts'
import type { Report } from './report.ts'

/** What a file may contain. */
export interface Grammar {
  keys: KeyTable
  /** Keys of lines by their first key, in lower case. Lines of other keys have one key. Null: not checked. */
  lines: Record<string, KeyTable | null>
}

/** Checks each line by itself: its form, its keys, and the types of its values. */
export function checkLines(report: Report, config: ParsedConfig, { keys, lines }: Grammar, release: number): void {
  const seen = new Map<string, ConfigLine>()
  for (const line of config.lines) {
    if (line.include !== null) report.warn(line, 'Include', `The included file ${line.include} is not checked and not managed.`)
    if (line.rest !== null) report.error(line, null, `Slurm cannot read ${JSON.stringify(line.rest.slice(0, 80))}.`)
    const [first, ...others] = line.fields
    if (!first) continue
    const found = findKey(keys, first.key, release)
    if ('unknown' in found) {
      report.error(line, first.key, `The key ${first.key} ${found.unknown}.`)
      continue
    }
    const problem = valueProblem(found.type, first.value)
    if (problem) report.error(line, first.key, `${first.key} ${problem}.`)
    const lower = first.key.toLowerCase()
    if (found.type !== 'LIST') {
      const earlier = seen.get(lower)
      if (earlier) report.warn(line, first.key, `${first.key} is also in line ${earlier.number}. Slurm uses the last one.`)
      seen.set(lower, line)
    }
    const table = lines[lower]
    if (table === undefined && others[0])
      report.error(line, others[0].key, `A line with ${first.key} can have no other key; ${others[0].key} needs its own line.`)
    if (table) for (const { key, value } of others) checkField(report, line, { key, value, table, release })
  }
}

function checkField(
  report: Report,
  line: ConfigLine,
  { key, value, table, release }: { key: string; value: string; table: KeyTable; release: number },
): void {
  const found = findKey(table, key, release)
  if ('unknown' in found) {
    report.error(line, key, `The key ${key} ${found.unknown} in a line with ${line.fields[0]!.key}.`)
    return
  }
  const problem = valueProblem(found.type, value)
  if (problem) report.error(line, key, `${key} ${problem}.`)
}
