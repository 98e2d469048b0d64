import { InvalidArgumentError } from 'commander'

/** A whole number above 0, for commander. */
export function integer(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return value
}

/** A whole number above 0, or `none`. Not null: commander takes a null for an option without a value. */
export const integerOrNone = (text: string): number | 'none' => (text === 'none' ? text : integer(text))
export const nullIfNone = (value: number | 'none' | undefined): number | null | undefined => (value === 'none' ? null : value)

/** For what may be given empty, which takes away; commander cannot be given the null for it, so `orNull` makes that of it later. */
export const orEmpty =
  <T>(parse: (text: string) => T) =>
  (text: string): T | '' =>
    text === '' ? text : parse(text)
export const orNull = <T>(value: T): Exclude<T, ''> | null => (value === '' ? null : (value as Exclude<T, ''>))

/** Without what was not given, and so stays as it is. */
export const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** A whole number from 0 to 100, for commander. */
export function percentage(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 100) throw new InvalidArgumentError('It must be a whole number from 0 to 100.')
  return value
}

/** `a,b` as ansible-playbook takes lists; may be repeated. */
export const words = (text: string, before: string[] = []): string[] => [
  ...before,
  ...text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
]

/** One of these names of the API; `ssh-key` is as good as `SSH_KEY`. */
export const oneOf =
  <const T extends string>(...allowed: T[]) =>
  (text: string): T => {
    const name = text.toUpperCase().replaceAll('-', '_')
    const found = allowed.find((a) => a === name)
    if (!found) throw new InvalidArgumentError(`It must be one of ${allowed.join(', ')}.`)
    return found
  }

/** Several of these names. */
export const someOf = <const T extends string>(...allowed: T[]) => {
  const one = oneOf(...allowed)
  return (text: string, before: T[] = []): T[] => [...before, one(text)]
}
