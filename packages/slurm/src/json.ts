/** An object of a tool's --json output. */
export type JsonObject = Record<string, unknown>

/** Limits that may be unlimited. */
export type Limit = number | 'UNLIMITED'

// slurm.h: NO_VAL and INFINITE of 32 bits, which Slurm 22.05 and older print as numbers, free_memory as -2. Those of 64 bits are
// not told apart by a JavaScript number.
const NOT_SET = new Set([0xfffffffe, 2 ** 64, -2])
const INFINITE = new Set([0xffffffff])

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The object at a path of keys; an empty object when there is none. */
export function at(value: unknown, ...keys: string[]): JsonObject {
  for (const key of keys) value = isObject(value) ? value[key] : undefined
  return isObject(value) ? value : {}
}

/** Reads a number in each form: 5 (to 22.05 and in some fields later) and {set, infinite, number} (from 23.02). */
export function readLimit(value: unknown): Limit | null {
  if (isObject(value)) {
    if (value.infinite === true) return 'UNLIMITED'
    return value.set === false ? null : readLimit(value.number)
  }
  if (typeof value !== 'number' || !Number.isFinite(value) || NOT_SET.has(value)) return null
  return INFINITE.has(value) ? 'UNLIMITED' : value
}

/** Like readLimit; null when there is no limit. */
export function readNumber(value: unknown): number | null {
  const limit = readLimit(value)
  return limit === 'UNLIMITED' ? null : limit
}

/** Reads seconds since 1970; null for 0, which Slurm uses for "never". */
export function readTime(value: unknown): Date | null {
  const seconds = readNumber(value)
  return seconds !== null && seconds > 0 && seconds < 8.64e12 ? new Date(seconds * 1000) : null
}

export function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Reads a list in each form: "a,b" (to 22.05) and ["a", "b"] (from 23.02). */
export function readList(value: unknown): string[] {
  const list = Array.isArray(value) ? value.filter((item) => typeof item === 'string') : (readText(value) ?? '').split(',')
  return list.map((item) => item.trim()).filter((item) => item !== '')
}
