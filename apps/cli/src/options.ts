import { InvalidArgumentError } from 'commander'

/** Parses a whole number above 0. */
export function integer(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return value
}

/** Parses a whole number from 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.')
  return Number(text)
}

/** Parses a whole number above 0 or `none`. Not null, because commander treats null as a missing value. */
export const integerOrNone = (text: string): number | 'none' => (text === 'none' ? text : integer(text))
export const nullIfNone = (value: number | 'none' | undefined): number | null | undefined => (value === 'none' ? null : value)

/** Allows an empty option value, which clears the field. `emptyToNull` converts it later, because commander cannot hold null. */
export const allowEmpty =
  <T>(parse: (text: string) => T) =>
  (text: string): T | '' =>
    text === '' ? text : parse(text)
export const emptyToNull = <T>(value: T): Exclude<T, ''> | null => (value === '' ? null : (value as Exclude<T, ''>))

/** Removes undefined fields, so that the API leaves them unchanged. */
export const omitUndefined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** Parses a whole number from 0 to 100. */
export function percentage(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 100) throw new InvalidArgumentError('It must be a whole number from 0 to 100.')
  return value
}

/** Parses `a,b`, like lists of ansible-playbook; repeatable. */
export const commaList = (text: string, before: string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
]

/** Parses an enum value of the API in any case, with `-` for `_`: `ssh-key` is SSH_KEY. */
export const oneOf =
  <const T extends string>(...allowed: T[]) =>
  (text: string): T => {
    const name = text.toUpperCase().replaceAll('-', '_')
    const found = allowed.find((a) => a === name)
    if (!found) throw new InvalidArgumentError(`It must be one of ${allowed.join(', ')}.`)
    return found
  }

/** Parses several enum values. */
export const someOf = <const T extends string>(...allowed: T[]) => {
  const one = oneOf(...allowed)
  return (text: string, before: T[] = []): T[] => [...before, one(text)]
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a time in ISO 8601, or an age such as `30m`, `12h` or `7d`, to ISO 8601. */
export function pointInTime(text: string): string {
  const [, amount, unit] = /^(\d+)([mhd])$/.exec(text) ?? []
  const time = unit ? Date.now() - Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS] : Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a time in ISO 8601, or an age such as 30m, 12h or 7d.')
  return new Date(time).toISOString()
}
