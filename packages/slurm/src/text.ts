import { SlurmOutputError } from './errors.ts'
import type { Limit } from './json.ts'

/** A record of `scontrol show -o`: values by key, as printed. */
export type TextRecord = Map<string, string>

/**
 * Reads the lines of `scontrol show -o`: one record a line, `Key=value Key=value`. Values may contain spaces and are not escaped,
 * so a key counts only where it appears first: Slurm prints the texts that people write (Reason, Comment, Extra) after all others.
 * @param firstKey key at the start of each record, such as NodeName; other lines (banners) are skipped
 * @param required keys that each record has
 * @param freeText keys whose values run to the end of the line, or to another of these keys
 * @param empty what Slurm prints for an empty list
 * @throws SlurmOutputError a record lacks a key, or there is no record although Slurm does not say so
 */
export function readRecords(
  output: string,
  firstKey: string,
  { required, freeText = [], empty }: { required: readonly string[]; freeText?: readonly string[]; empty: string },
): TextRecord[] {
  const lines = output.split('\n').filter((line) => line.startsWith(`${firstKey}=`))
  if (lines.length === 0 && !output.includes(empty))
    throw new SlurmOutputError(`the output has no ${firstKey}: ${output.trim().slice(0, 80) || 'it is empty'}`)
  return lines.map((line) => {
    const record = readRecord(line, freeText)
    const missing = required.find((key) => !record.has(key))
    if (missing) throw new SlurmOutputError(`a record has no ${missing}: ${line.slice(0, 80)}`)
    return record
  })
}

function readRecord(line: string, freeText: readonly string[]): TextRecord {
  const record: TextRecord = new Map()
  const free = freeText.map((key) => line.indexOf(` ${key}=`)).filter((index) => index >= 0)
  const end = Math.min(line.length, ...free)
  const keys = [...line.slice(0, end).matchAll(/(?:^|\s)([A-Z][\w:/]*)=/g)]
  keys.forEach((match, i) => {
    const value = line.slice(match.index + match[0].length, keys[i + 1]?.index ?? end).trim()
    if (!record.has(match[1]!)) record.set(match[1]!, value)
  })
  const starts = free.sort((a, b) => a - b)
  starts.forEach((start, i) => {
    const equals = line.indexOf('=', start)
    record.set(line.slice(start + 1, equals), line.slice(equals + 1, starts[i + 1] ?? line.length).trim())
  })
  return record
}

const NOTHING = new Set(['', '(null)', 'N/A', 'n/a', 'None', 'NONE', 'Unknown', 'UNKNOWN', 'INVALID', 'n/s'])

/** The printed value; null for Slurm's words for nothing. */
export function parseWord(value: string | undefined): string | null {
  return value === undefined || NOTHING.has(value.trim()) ? null : value.trim()
}

export function parseCount(value: string | undefined): number | null {
  return value !== undefined && /^\s*-?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : null
}

export const parseWords = (value: string | undefined): string[] => parseWord(value)?.split(',').filter(Boolean) ?? []

/**
 * Reads a time: seconds since 1970 (SLURM_TIME_FORMAT=%s) or `2026-11-22T07:48:46` in the controller's local time.
 * @param utcOffset minutes that the controller's local time is ahead of UTC
 */
export function parseTime(value: string | undefined, utcOffset = 0): Date | null {
  const word = parseWord(value)
  if (word === null) return null
  if (/^\d{1,12}$/.test(word)) return word === '0' ? null : new Date(Number(word) * 1000)
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(word)
  if (!match) return null
  const [year, month, day, hours, minutes, seconds] = match.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return new Date(Date.UTC(year, month - 1, day, hours, minutes - utcOffset, seconds))
}

/** Reads a duration, `[days-][[hours:]minutes:]seconds` or `days-hours[:minutes[:seconds]]`, as seconds. */
export function parseDuration(value: string | undefined): Limit | null {
  const word = parseWord(value)
  if (word === 'UNLIMITED' || word === 'INFINITE') return 'UNLIMITED'
  const match = word === null ? null : /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$/.exec(word)
  if (!match) return null
  const [, days, a, b, c] = match
  const [first, second, third] = [Number(a), Number(b ?? 0), Number(c ?? 0)]
  if (days !== undefined) return ((Number(days) * 24 + first) * 60 + second) * 60 + third
  if (c !== undefined) return (first * 60 + second) * 60 + third
  return b === undefined ? first : first * 60 + second
}

/** Reads a duration as minutes, rounded up. */
export function parseMinutes(value: string | undefined): Limit | null {
  const seconds = parseDuration(value)
  return typeof seconds === 'number' ? Math.ceil(seconds / 60) : seconds
}
