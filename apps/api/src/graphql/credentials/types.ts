import { credentialPermissions, SECRET_FIELDS, type SecretField as SecretFieldName } from '@muster/core/credentials'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { foldHostlist } from '@muster/core/selection'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { fingerprintOf } from '../connections/host-keys.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { BecomeMethod, CredentialKind, SecretField } from './enums.ts'

const { computeNodes, credentials, jobTemplates, nodeBmcs } = schema

/** Number of nodes that use each credential. */
const nodeCounts = loader<number>(async ({ ctx }, ids) => {
  const { rows } = await ctx.db.execute<{ id: string; count: number }>(sql`
    select used.id, count(distinct ${computeNodes.id})::int as count
    from ${computeNodes}, unnest(array[${computeNodes.credentialId}, ${computeNodes.becomeCredentialId}, ${computeNodes.bastionId},
      (select b.credential_id from ${nodeBmcs} b where b.node_id = ${computeNodes.id})]) as used (id)
    where ${visibleTo(ctx, computeNodes)} and used.id = any(${sql.param([...ids])}::uuid[])
    group by used.id`)
  return new Map(rows.map((row) => [row.id, row.count]))
})

const MAX_NAMES = 500

type Use = { role: 'LOGIN' | 'BECOME' | 'BASTION' | 'BMC' | 'VIA' | 'SOURCE'; names: string[] }

const ROLE = builder.enumType('CredentialRole', {
  description: 'Usage of a credential.',
  values: {
    LOGIN: { description: 'Login on nodes.' },
    BECOME: { description: 'Privilege escalation on nodes.' },
    BASTION: { description: 'Bastion of nodes.' },
    BMC: { description: 'Login at the BMCs of nodes.' },
    VIA: { description: 'Bastion in front of other bastions.' },
    SOURCE: { description: 'Login at the repository of job templates.' },
  } as const,
})

const CredentialUse = builder.objectRef<Use>('CredentialUse').implement({
  description: 'Users of a credential in one role.',
  fields: (t) => ({
    role: t.expose('role', { type: ROLE, description: 'Role.' }),
    count: t.int({ description: 'Number of users.', resolve: ({ names }) => names.length }),
    names: t.stringList({
      description: 'Node names; bastion names for VIA, job template names for SOURCE. Sorted; at most 500.',
      resolve: ({ names }) => names.toSorted().slice(0, MAX_NAMES),
    }),
    hostlist: t.string({
      nullable: true,
      description: 'All node names as a hostlist; null for VIA and SOURCE.',
      resolve: ({ role, names }) => (role === 'VIA' || role === 'SOURCE' ? null : foldHostlist(names)),
    }),
  }),
})

const uses = loader<Use[]>(async ({ ctx }, ids) => {
  const { rows } = await ctx.db.execute<Use & { id: string }>(sql`
    select used.id, used.role, array_agg(${computeNodes.name}) as names
    from ${computeNodes}, lateral (values (${computeNodes.credentialId}, 'LOGIN'), (${computeNodes.becomeCredentialId}, 'BECOME'),
      (${computeNodes.bastionId}, 'BASTION')) as used (id, role)
    where ${visibleTo(ctx, computeNodes)} and used.id = any(${sql.param([...ids])}::uuid[]) group by used.id, used.role
    union all
    select ${nodeBmcs.credentialId}, 'BMC', array_agg(${computeNodes.name}) from ${nodeBmcs} join ${computeNodes} on ${computeNodes.id} = ${nodeBmcs.nodeId}
    where ${visibleTo(ctx, nodeBmcs)} and ${nodeBmcs.credentialId} = any(${sql.param([...ids])}::uuid[]) group by ${nodeBmcs.credentialId}
    union all
    select ${credentials.viaId}, 'VIA', array_agg(${credentials.name}) from ${credentials}
    where ${visibleTo(ctx, credentials)} and ${credentials.viaId} = any(${sql.param([...ids])}::uuid[]) group by ${credentials.viaId}
    union all
    select ${jobTemplates.gitCredentialId}, 'SOURCE', array_agg(${jobTemplates.name}) from ${jobTemplates}
    where ${visibleTo(ctx, jobTemplates)} and ${jobTemplates.gitCredentialId} = any(${sql.param([...ids])}::uuid[]) group by ${jobTemplates.gitCredentialId}
    order by role desc`)
  return Map.groupBy(rows, ({ id }) => id)
})

const SecretRef = builder.objectRef<{ field: SecretFieldName; path: string; key: string }>('SecretRef').implement({
  description: 'Location of the value of a secret field in a secret store.',
  fields: (t) => ({
    field: t.expose('field', { type: SecretField, description: 'Secret field.' }),
    path: t.exposeString('path', { description: 'Path of the secret below the mount.' }),
    key: t.exposeString('key', { description: 'Key of the value in the secret.' }),
  }),
})

const CredentialResult = builder.objectRef<{ at: Date; error: string | null }>('CredentialResult').implement({
  description: 'Result of the last use of a credential in a connection test.',
  fields: (t) => ({
    isOk: t.boolean({ description: 'Whether the credential was accepted.', resolve: ({ error }) => error === null }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Reason of the rejection and the next step; null when accepted.',
    }),
    testedAt: t.expose('at', { type: 'DateTime', description: 'Time of the test.' }),
  }),
})

export const Credential = builder.drizzleNode('credentials', {
  name: 'Credential',
  authScopes: { permission: credentialPermissions.read },
  description: 'A login or password. Secret fields are write-only.',
  select: { columns: { id: true } },
  id: { column: (c) => c.id, description: 'Credential ID.' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    kind: t.expose('kind', { type: CredentialKind, description: 'Kind.' }),
    description: t.exposeString('description', { description: 'Free text; can be empty.' }),
    username: t.exposeString('username', {
      nullable: true,
      description: 'Login name on the bastion, or on nodes without their own login name. For BECOME: the user to become.',
    }),
    becomeMethod: t.field({
      type: BecomeMethod,
      nullable: true,
      description: 'BECOME only: command for privilege escalation.',
      select: { columns: { becomeMethod: true } },
      resolve: (c) => (c.becomeMethod === 'sudo' || c.becomeMethod === 'su' ? c.becomeMethod : null),
    }),
    host: t.exposeString('host', {
      nullable: true,
      description: 'BASTION, GIT, SALT and SLURMRESTD: host name or address.',
    }),
    port: t.exposeInt('port', {
      nullable: true,
      description: 'BASTION: SSH port. GIT, SALT and SLURMRESTD: port of the server; GIT: null for the default of the protocol.',
    }),
    via: t.relation('via', {
      nullable: true,
      description: 'BASTION only: bastion in front of this bastion; null for a direct connection.',
    }),
    allowedHosts: t.exposeStringList('allowedHosts', {
      description:
        'SSH_PASSWORD, BECOME and BMC: networks and host name patterns to which the password may be sent; at most 50. `*` is every host.',
    }),
    publicKey: t.exposeString('publicKey', {
      nullable: true,
      description: 'Public key in authorized_keys format; null without a private key.',
    }),
    hostKeyFingerprint: t.string({
      nullable: true,
      description: 'BASTION and GIT: fingerprint of the approved host key, `SHA256:…`.',
      select: { columns: { hostKey: true } },
      resolve: (c) => fingerprintOf(c.hostKey),
    }),
    hostKeyApprovedAt: t.expose('hostKeyApprovedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'BASTION and GIT: time of the approval of the host key.',
    }),
    offeredHostKeyFingerprint: t.string({
      nullable: true,
      description: 'BASTION only: fingerprint of the last offered host key that is not approved.',
      select: { columns: { offeredHostKey: true } },
      resolve: (c) => fingerprintOf(c.offeredHostKey),
    }),
    secretsSet: t.field({
      type: [SecretField],
      description: 'Secret fields that have a value stored in Muster; at most 3.',
      select: { columns: { encrypted: true } },
      resolve: (c) => SECRET_FIELDS.filter((field) => c.encrypted[field] !== undefined),
    }),
    nodeCount: t.int({
      description: 'Number of nodes that use the credential.',
      select: { columns: { id: true } },
      resolve: async (c, _args, context) => (await nodeCounts(context, c.id)) ?? 0,
    }),
    secretRefs: t.field({
      type: [SecretRef],
      description: 'Secret fields whose values are in the secret store; at most 3.',
      select: { columns: { secretRefs: true } },
      resolve: (c) => SECRET_FIELDS.flatMap((field) => (c.secretRefs[field] ? [{ field, ...c.secretRefs[field] }] : [])),
    }),
    usedBy: t.field({
      type: [CredentialUse],
      description: 'Users by role, at most 5 roles; empty when unused.',
      select: { columns: { id: true } },
      resolve: async (c, _args, context) => (await uses(context, c.id)) ?? [],
    }),
    lastResult: t.field({
      type: CredentialResult,
      nullable: true,
      description: 'Result of the last connection test that used the credential; null when there is none.',
      select: { columns: { lastResultAt: true, lastResultError: true } },
      resolve: (c) => c.lastResultAt && { at: c.lastResultAt, error: c.lastResultError },
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last login by a worker.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
})

export const credentialConnection = connectionTypes(Credential, 'Credential', 'credentials')
