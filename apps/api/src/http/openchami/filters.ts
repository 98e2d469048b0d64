import { InvalidInput } from '@muster/core/errors'
import type { Answer } from './request.ts'

/** Whether `value` is one of those that the parameter names; without the parameter, all are. Compares without case. */
export function matches(query: URLSearchParams, name: string, values: readonly (string | null)[]): boolean {
  const wanted = [...query].flatMap(([key, value]) => (key.toLowerCase() === name.toLowerCase() ? [value.toLowerCase()] : []))
  return wanted.length === 0 || values.some((value) => value !== null && wanted.includes(value.toLowerCase()))
}

/** A message that SMD answers successful changes with. */
export const done = (message: string) => ({ status: 200, body: { code: 0, message } })

/** Refuses a request with which SMD deletes all objects of the kind. */
export function deleteAll(): Answer {
  throw new InvalidInput([{ path: '', message: 'Muster does not delete all objects at once. Delete them one by one, by ID.' }])
}
