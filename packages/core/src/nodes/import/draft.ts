import { type InputIssue, InvalidInput } from '../../kernel/errors.ts'

/** Fields of an imported node as text. `null` and missing both mean not given. */
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
  rack?: string
  rackPosition?: string
  xname?: string
  nid?: string
  managementIp?: string
  /** MAC of the boot interface, and its name. */
  mac?: string
  interfaceName?: string
  /** BMC, with its credential by name. */
  bmcAddress?: string
  bmcMac?: string
  bmcProtocol?: string
  bmcCredential?: string
  bmcFingerprint?: string
  bmcPort?: string
  bmcCa?: string
  bmcSystemPath?: string
  notes?: string
  tags?: string[]
  labels?: Record<string, string>
  /** Credentials by name. */
  credential?: string
  becomeCredential?: string
  bastion?: string
}

/** One imported node before validation. */
export type Draft = {
  /** Its line in the text, from 1. A hostlist produces several drafts per line. */
  row: number
  source: string
  fields: DraftFields
  groups: string[]
  /** Reasons why the node cannot be added. */
  issues: InputIssue[]
  /** Ignored parts, each with the reason. */
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

/** The error for unreadable input. @param line from 1 */
export const unreadable = (message: string, line?: number): InvalidInput =>
  new InvalidInput([{ path: 'text', message: line === undefined ? message : `line ${line}: ${message}` }])

export const MAX_ROWS = 10_000
export const tooMany = (): InvalidInput => unreadable(`more than ${MAX_ROWS} nodes at once; import them in parts`)

/** Splits `host`, `host:port` or `[IPv6]:port`; a bare IPv6 address has no port. */
export function splitHostPort(text: string): { host: string; port?: string } {
  const bracketed = /^(\[[^\]]*:[^\]]*\])(?::(.*))?$/.exec(text)
  const plain = bracketed ?? (text.split(':').length === 2 ? /^(.*):(.*)$/.exec(text) : null)
  if (!plain) return { host: text }
  return plain[2] === undefined ? { host: plain[1]! } : { host: plain[1]!, port: plain[2] }
}

/** Derives a node name from an address. */
export function nameFromHost(host: string): string {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase()
  const name = bare.replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return bare.includes(':') || name === '127.0.0.1' ? `node-${name}` : name
}
