import { NotFound } from '@muster/core/errors'
import { decodeGlobalID, encodeGlobalID } from '@pothos/plugin-relay'

/** How messages call objects of each type that has ids. */
const WORDS = {
  ComputeNode: 'node',
  Accelerator: 'accelerator',
  Credential: 'credential',
  SecretStore: 'secret store',
  Discovery: 'discovery',
  ConnectionTest: 'connection test',
  NodeGroup: 'node group',
  VariableScope: 'set of variables',
  JobTemplate: 'job template',
  PlaybookBundle: 'playbook bundle',
  JobRun: 'run',
  JobArtifact: 'artifact',
  ApiToken: 'API token',
  AgentKey: 'agent key',
  AgentEnrollmentToken: 'enrollment token',
  Alert: 'alert',
  AlertSilence: 'silence',
  AlertRoute: 'route',
  AlertDelivery: 'message',
} as const

export type TypeName = keyof typeof WORDS

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Type and row id of a global id; null when it is none of ours. */
export function parseId(id: string): { type: TypeName; id: string } | null {
  try {
    const parsed = decodeGlobalID(id)
    return Object.hasOwn(WORDS, parsed.typename) && UUID.test(parsed.id)
      ? { type: parsed.typename as TypeName, id: parsed.id }
      : null
  } catch {
    return null
  }
}

/** The row id behind a global id. @throws NotFound when it is not the id of such an object */
export function rowId(type: TypeName, id: string): string {
  const parsed = parseId(id)
  if (parsed?.type !== type) throw new NotFound(`There is no ${WORDS[type]} with the id ${id}.`)
  return parsed.id
}

/** The same for an id that may be left out (undefined) or taken away (null). */
export function rowIdIfGiven<T extends null | undefined>(type: TypeName, id: string | T): string | T {
  return typeof id === 'string' ? rowId(type, id) : id
}

export const globalId = (type: TypeName, id: string): string => encodeGlobalID(type, id)

/** Without the members that are null: for inputs where leaving out and null mean the same. */
export function given<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], null> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as {
    [K in keyof T]: Exclude<T[K], null>
  }
}
