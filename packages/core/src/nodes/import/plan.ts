import { and } from 'drizzle-orm'
import { z } from 'zod'
import { credentialPermissions } from '../../credentials/permissions.ts'
import { type Credential, credentials } from '../../credentials/tables.ts'
import { allowedHostsBlockedReason, isPasswordForNodes } from '../../kernel/allowed-hosts.ts'
import { type Ctx, permissionDeniedReason, type Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { NewNode } from '../add-node.ts'
import { NODE_FIELDS } from '../fields.ts'
import { nodePermissions } from '../permissions.ts'
import { parseCsv } from './csv.ts'
import { type Draft, MAX_ROWS } from './draft.ts'
import { flagExclusiveSets, flagExisting, flagManagedGroups, flagRepeats } from './flag-rows.ts'
import { parseInventory } from './inventory.ts'
import { parseList } from './list.ts'
import type { NodeImportReport, NodeImportState, PlannedRow } from './rows.ts'

const {
  name: _name,
  host: _host,
  rackPosition: _position,
  xname: _xname,
  nid: _nid,
  managementIp: _ip,
  interfaces: _interfaces,
  ...DEFAULTS
} = NODE_FIELDS
const { port, connectionType, nodeType, tags, labels, notes } = DEFAULTS

export const NodeImportInput = z.object({
  format: z.enum(['LIST', 'CSV', 'INVENTORY'], 'must be LIST, CSV or INVENTORY'),
  text: z.string().min(1, 'must not be empty').max(5_000_000, 'must have at most 5 million characters'),
  /** Values of fields that rows omit. */
  defaults: z
    .object({
      ...DEFAULTS,
      port: port.nullish(),
      connectionType: connectionType.nullish(),
      nodeType: nodeType.nullish(),
      tags: tags.nullish(),
      labels: labels.nullish(),
      notes: notes.nullish(),
    })
    .nullish(),
  /** Imports only these rows, to retry failed ones. */
  onlyRows: z.array(z.number().int()).max(MAX_ROWS, 'at most 10,000').nullish(),
})
export type NodeImport = z.output<typeof NodeImportInput>

const PARSERS = { LIST: parseList, CSV: parseCsv, INVENTORY: parseInventory }

/**
 * Parses the text and plans the result of each row. Writes nothing and runs a fixed number of statements.
 * @throws InvalidInput at text when it cannot be parsed
 */
export async function planImport(db: Db | Tx, ctx: Ctx, input: NodeImport): Promise<PlannedRow[]> {
  const only = input.onlyRows && new Set(input.onlyRows)
  const drafts = PARSERS[input.format](input.text).filter((draft) => !only || only.has(draft.row))
  const named = await credentialsByName(db, ctx, drafts)
  const rows = drafts.map((draft) => check(ctx, draft, input, named))
  flagRepeats(rows)
  await flagExisting(db, ctx, rows)
  await flagExclusiveSets(db, ctx, rows)
  await flagManagedGroups(db, ctx, rows)
  return rows
}

export function report(planned: PlannedRow[]): NodeImportReport {
  const rows = planned.map(({ values: _values, groups: _groups, ...row }) => row)
  const count = (state: NodeImportState) => rows.filter((row) => row.state === state).length
  return { rows, addedCount: count('ADDED'), failedCount: count('INVALID') }
}

const REFERENCES = {
  credential: 'credentialId',
  becomeCredential: 'becomeCredentialId',
  bastion: 'bastionId',
  bmcCredential: 'bmcCredentialId',
} as const
type ReferenceField = keyof typeof REFERENCES
const FITTING: Record<ReferenceField, string[]> = {
  credential: ['SSH_KEY', 'SSH_PASSWORD'],
  becomeCredential: ['BECOME'],
  bastion: ['BASTION'],
  bmcCredential: ['BMC'],
}
type NamedCredentials = Map<string, Pick<Credential, 'id' | 'name' | 'kind' | 'allowedHosts'>>

async function credentialsByName(db: Db | Tx, ctx: Ctx, drafts: Draft[]): Promise<NamedCredentials> {
  const names = new Set(
    drafts.flatMap(({ fields }) => (Object.keys(REFERENCES) as ReferenceField[]).flatMap((f) => fields[f] ?? [])),
  )
  const clean = [...names].filter((name) => !name.includes('\u0000'))
  if (clean.length === 0) return new Map()
  const rows = await db
    .select({
      id: credentials.id,
      name: credentials.name,
      kind: credentials.kind,
      allowedHosts: credentials.allowedHosts,
    })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), isOneOf(credentials.name, clean, 'text')))
    .for('key share')
  return new Map(rows.map((row) => [row.name, row]))
}

/** The column of a field. */
const columnOf = (path: string) =>
  ({
    ...{ 'interfaces.0.mac': 'mac', 'interfaces.0.name': 'interface', 'bmc.address': 'bmc', 'bmc.mac': 'bmcMac' },
    ...{ 'bmc.protocol': 'bmcProtocol', 'bmc.credentialId': 'bmcCredential', 'bmc.fingerprint': 'bmcFingerprint' },
    ...{ 'bmc.port': 'bmcPort', 'bmc.caCertificate': 'bmcCa', 'bmc.systemPath': 'bmcSystemPath' },
  })[path] ?? path

/** A cell with digits as a number; other text is reported by the field. */
const numberOf = (cell: string | number | undefined) =>
  cell !== undefined && /^\d{1,10}$/.test(String(cell)) ? Number(cell) : cell

function check(ctx: Ctx, draft: Draft, input: NodeImport, named: NamedCredentials): PlannedRow {
  const { credential, becomeCredential, bastion, port, nid, mac, interfaceName, tags, labels, ...others } = draft.fields
  const { bmcAddress, bmcMac, bmcProtocol, bmcCredential, bmcFingerprint, bmcPort, bmcCa, bmcSystemPath, ...fields } = others
  const issues = [...draft.issues]
  const references: Record<string, string> = {}
  const useDenied = permissionDeniedReason(ctx.actor, credentialPermissions.use)
  for (const [field, name] of Object.entries({ credential, becomeCredential, bastion, bmcCredential }) as [
    ReferenceField,
    string | undefined,
  ][]) {
    if (name === undefined) continue
    const found = named.get(name)
    if (!found) issues.push({ path: field, message: `There is no credential named ${name.slice(0, 100)}.` })
    else if (!FITTING[field].includes(found.kind))
      issues.push({ path: field, message: `${name} is a ${found.kind}; here it must be ${FITTING[field].join(' or ')}` })
    else if (isPasswordForNodes(found) && useDenied)
      issues.push({ path: field, message: `attaching the password ${name}: ${useDenied}` })
    else if (field === 'bmcCredential' && bmcAddress) {
      const reason = allowedHostsBlockedReason(found, bmcAddress)
      if (reason) issues.push({ path: field, message: reason })
      else references.bmcCredentialId = found.id
    } else references[REFERENCES[field]] = found.id
  }
  const { bmcCredentialId, ...nodeReferences } = references
  const place = {
    ...{ address: bmcAddress, mac: bmcMac, protocol: bmcProtocol, fingerprint: bmcFingerprint },
    ...{ port: numberOf(bmcPort), caCertificate: bmcCa, systemPath: bmcSystemPath },
  }
  const hasBmc = [...Object.values(place), bmcCredential].some((cell) => cell !== undefined)
  if (hasBmc && bmcAddress === undefined) issues.push({ path: 'bmc', message: 'is required with other columns of the BMC' })
  if (bmcAddress !== undefined && bmcCredential === undefined)
    issues.push({ path: 'bmcCredential', message: 'is required: the name of a credential of the kind BMC' })
  const bmc = bmcAddress === undefined || bmcCredentialId === undefined ? null : { ...place, credentialId: bmcCredentialId }
  const defaults = Object.fromEntries(Object.entries(input.defaults ?? {}).filter(([, value]) => value != null))
  const parsed = NewNode.safeParse({
    ...defaults,
    ...fields,
    ...nodeReferences,
    bmc,
    ...(port === undefined ? {} : { port: numberOf(port) }),
    ...(nid === undefined ? {} : { nid: numberOf(nid) }),
    interfaces: mac === undefined ? [] : [{ name: interfaceName ?? 'boot', mac, isBoot: true }],
    tags: [...(input.defaults?.tags ?? []), ...(tags ?? [])],
    labels: { ...input.defaults?.labels, ...labels },
  })
  // A row that could not be split already has its issue.
  if (!parsed.success && draft.issues.length === 0)
    issues.push(...parsed.error.issues.map((issue) => ({ path: columnOf(issue.path.join('.')), message: issue.message })))
  const rejected =
    parsed.success && parsed.data.connectionType === 'local' ? permissionDeniedReason(ctx.actor, nodePermissions.local) : null
  if (rejected) issues.push({ path: 'connectionType', message: `a local node runs commands on the worker itself: ${rejected}` })
  const values = parsed.success && issues.length === 0 ? parsed.data : null
  return {
    row: draft.row,
    source: draft.source,
    name: values?.name ?? fields.name ?? null,
    host: values?.host ?? fields.host ?? null,
    port: values?.port ?? null,
    state: values ? 'VALID' : 'INVALID',
    issues: values ? draft.notes : issues,
    node: null,
    values,
    groups: draft.groups,
  }
}
