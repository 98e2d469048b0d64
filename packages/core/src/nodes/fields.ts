import { and } from 'drizzle-orm'
import { z } from 'zod'
import { credentialPermissions } from '../credentials/permissions.ts'
import { type Credential, type CredentialKind, credentials } from '../credentials/tables.ts'
import { authorizeNodes } from '../groups/index.ts'
import { Host, NodeName, Port, User } from '../kernel/address.ts'
import { allowedHostsBlockedReason, isPasswordForNodes } from '../kernel/allowed-hosts.ts'
import { authorize, type Ctx, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { Id, multilineText, singleLineText } from '../kernel/input.ts'
import { Interfaces, IpAddress, Nid } from './network/fields.ts'
import { NodeXname } from './network/xname.ts'
import { nodePermissions } from './permissions.ts'
import { CONNECTION_TYPES, NODE_TYPES } from './tables.ts'

export const Tag = z
  .string()
  .min(1, 'must not be empty')
  .max(64, 'must have at most 64 characters')
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N}._:/=+-]*$/u,
    'must begin with a letter or digit and contain only letters, digits and . _ : / = + -',
  )
export const Tags = z
  .array(Tag)
  .max(100, 'at most 100 tags')
  .transform((tags) => [...new Set(tags)])

const LabelKey = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$/, 'a label must be named by letters, digits and . _ / -')
export const Labels = z
  .record(LabelKey, z.union([singleLineText(256), z.number().transform(String), z.boolean().transform(String)]))
  .refine((labels) => Object.keys(labels).length <= 100, 'at most 100 labels')

/** Fields of a node that users set. */
export const NODE_FIELDS = {
  name: NodeName,
  displayName: singleLineText(128).nullish(),
  host: Host,
  port: Port,
  connectionType: z.enum(CONNECTION_TYPES, 'must be ssh or local'),
  sshUser: User.nullish(),
  nodeType: z.enum(NODE_TYPES),
  region: singleLineText(64).nullish(),
  datacenter: singleLineText(64).nullish(),
  rack: singleLineText(64).nullish(),
  rackPosition: singleLineText(32).nullish(),
  xname: NodeXname.nullish(),
  nid: Nid.nullish(),
  managementIp: IpAddress.nullish(),
  interfaces: Interfaces,
  tags: Tags,
  labels: Labels,
  notes: multilineText(20_000),
  credentialId: Id.nullish(),
  becomeCredentialId: Id.nullish(),
  bastionId: Id.nullish(),
}

/** Allowed credential kinds by field. */
const REFERENCES = {
  credentialId: ['SSH_KEY', 'SSH_PASSWORD'],
  becomeCredentialId: ['BECOME'],
  bastionId: ['BASTION'],
  bmcCredentialId: ['BMC'],
} as const satisfies Record<string, readonly CredentialKind[]>
type Referenced = Pick<Credential, 'id' | 'name' | 'kind' | 'allowedHosts'>
type References = { [K in keyof typeof REFERENCES]?: string | null | undefined }

/**
 * Checks that the referenced credentials exist in the tenant, have an allowed kind, and may send their password to `host`. Inside a
 * transaction it locks them against deletion.
 * @param nodeIds the nodes, when they exist already
 * @param at paths of fields that have another name in the caller's input
 * @param prefix path of `input` in the caller's input, such as `defaults.`
 * @returns the credentials
 * @throws InvalidInput at the field; Forbidden a password requires `credential:use`
 */
export async function checkReferences(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  input: References,
  { host, prefix = '', nodeIds, at = {} }: { host?: string; prefix?: string; nodeIds?: string[]; at?: References } = {},
): Promise<Referenced[]> {
  const fields = (Object.keys(REFERENCES) as (keyof typeof REFERENCES)[]).filter((field) => input[field])
  if (fields.length === 0) return []
  const rows: Referenced[] = await db
    .select({
      id: credentials.id,
      name: credentials.name,
      kind: credentials.kind,
      allowedHosts: credentials.allowedHosts,
    })
    .from(credentials)
    .where(
      and(
        visibleTo(ctx, credentials),
        isOneOf(
          credentials.id,
          fields.map((field) => input[field]!),
        ),
      ),
    )
    .for('key share')
  const issues: InputIssue[] = []
  for (const field of fields) {
    const allowed: readonly CredentialKind[] = REFERENCES[field]
    const row = rows.find((r) => r.id === input[field])
    const path = at[field] ?? `${prefix}${field}`
    if (!row) issues.push({ path, message: `There is no credential ${input[field]}.` })
    else if (!allowed.includes(row.kind))
      issues.push({
        path,
        message: `${row.name} is a credential of the kind ${row.kind}; here it must be ${allowed.join(' or ')}`,
      })
    else {
      if (isPasswordForNodes(row)) {
        if (nodeIds) await authorizeNodes(db, ctx, credentialPermissions.use, nodeIds, { credentialIds: [row.id] })
        else authorize(ctx, credentialPermissions.use)
      }
      const reason = host === undefined ? null : allowedHostsBlockedReason(row, host)
      if (reason) issues.push({ path, message: reason })
    }
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  return rows
}

/** Only admins may create local nodes, because their commands run on the worker. @throws Forbidden */
export function authorizeConnectionType(ctx: Ctx, connectionType: string | null | undefined): void {
  if (connectionType === 'local') authorize(ctx, nodePermissions.local)
}
