import { type InputIssue, InvalidInput } from '../../kernel/errors.ts'

/** What an import may say of a node, as text still; `null` and missing both mean not said. */
export type DraftFields = {
  name?: string
  host?: string
  port?: number | string
  sshUser?: string
  connectionType?: string
  displayName?: string
  nodeType?: string
  region?: string
  datacenter?: string
  notes?: string
  tags?: string[]
  labels?: Record<string, string>
  /** Credentials by name. */
  credential?: string
  becomeCredential?: string
  bastion?: string
}

/** One node as an import names it, not yet checked. */
export type Draft = {
  /** Line of the text on which it stands, from 1. A hostlist gives several drafts of one line. */
  row: number
  source: string
  fields: DraftFields
  groups: string[]
  /** What makes it impossible to add. */
  issues: InputIssue[]
  /** What was left out on purpose, and why. */
  notes: InputIssue[]
}

export const draft = (row: number, source: string, fields: DraftFields = {}): Draft => ({
  row,
  source: source.trim().slice(0, 500),
  fields,
  groups: [],
  issues: [],
  notes: [],
})

/** The input as a whole cannot be read. @param line from 1 */
export const unreadable = (message: string, line?: number): InvalidInput =>
  new InvalidInput([{ path: 'text', message: line === undefined ? message : `line ${line}: ${message}` }])

export const MAX_ROWS = 10_000
export const tooMany = (): InvalidInput => unreadable(`more than ${MAX_ROWS} nodes at once; import them in parts`)

/** Take `host`, `host:port` or `[IPv6]:port` apart; a bare IPv6 address has no port. */
export function splitHostPort(text: string): { host: string; port?: string } {
  const bracketed = /^(\[[^\]]*:[^\]]*\])(?::(.*))?$/.exec(text)
  const plain = bracketed ?? (text.split(':').length === 2 ? /^(.*):(.*)$/.exec(text) : null)
  if (!plain) return { host: text }
  return plain[2] === undefined ? { host: plain[1]! } : { host: plain[1]!, port: plain[2] }
}

/** A name for a node of which only the address is known: the address, made to fit. */
export function nameFromHost(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  const name = bare.replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return bare.includes(':') || name === '127.0.0.1' ? `node-${name}` : name
}
