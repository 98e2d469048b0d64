import { NotFound } from '@muster/core/errors'
import { graphqlIds } from '@muster/core/registry'
import { decodeGlobalID, encodeGlobalID } from '@pothos/plugin-relay'

/** Types with a global ID. */
export type TypeName = keyof typeof graphqlIds | 'Tenant' | 'User' | 'Worker' | 'Session' | 'Passkey'

/** Names of types in messages, if different from the type name in lower case. */
const NOUNS: Partial<Record<TypeName, string>> = {
  ComputeNode: 'node',
  JobRun: 'run',
  JobArtifact: 'artifact',
  ApiToken: 'API token',
  VariableScope: 'set of variables',
}
const noun = (type: TypeName) => NOUNS[type] ?? type.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase()

const isTypeName = (name: string): name is TypeName =>
  Object.hasOwn(graphqlIds, name) || ['Tenant', 'User', 'Worker', 'Session', 'Passkey'].includes(name)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => UUID.test(text)

/** Type and row ID of a global ID; null when it is malformed. */
export function parseId(id: string): { type: TypeName; id: string } | null {
  try {
    const parsed = decodeGlobalID(id)
    return isTypeName(parsed.typename) && isUuid(parsed.id) ? { type: parsed.typename, id: parsed.id } : null
  } catch {
    return null
  }
}

/** The row ID in a global ID. @throws NotFound when it is not the ID of an object of this type */
export function rowId(type: TypeName, id: string): string {
  const parsed = parseId(id)
  if (parsed?.type !== type) throw new NotFound(`There is no ${noun(type)} with the ID ${id}.`)
  return parsed.id
}

/** Like `rowId` for an optional ID: returns undefined and null unchanged. */
export function rowIdIfGiven<T extends null | undefined>(type: TypeName, id: string | T): string | T {
  return typeof id === 'string' ? rowId(type, id) : id
}

export const globalId = (type: TypeName, id: string): string => encodeGlobalID(type, id)

/** Returns the input without null members, for inputs in which null means omitted. */
export function given<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], null> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as {
    [K in keyof T]: Exclude<T[K], null>
  }
}
