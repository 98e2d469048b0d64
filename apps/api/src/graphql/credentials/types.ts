import { SECRET_FIELDS, type SecretField as SecretFieldName } from '@muster/core/credentials'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { foldHostlist } from '@muster/core/selection'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { fingerprintOf } from '../connections/host-keys.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { BecomeMethod, CredentialKind, SecretField } from './enums.ts'

const { computeNodes, credentials, jobTemplates } = schema

/** How many nodes use each credential, in whatever role. */
const nodeCounts = loader<number>(async ({ ctx }, ids) => {
  const { rows } = await ctx.db.execute<{ id: string; count: number }>(sql`
    select used.id, count(distinct ${computeNodes.id})::int as count
    from ${computeNodes}, unnest(array[${computeNodes.credentialId}, ${computeNodes.becomeCredentialId}, ${computeNodes.bastionId}]) as used (id)
    where ${visibleTo(ctx, computeNodes)} and used.id = any(${sql.param([...ids])}::uuid[])
    group by used.id`)
  return new Map(rows.map((row) => [row.id, row.count]))
})

type Use = { role: 'LOGIN' | 'BECOME' | 'BASTION' | 'VIA' | 'SOURCE'; names: string[] }

const ROLE = builder.enumType('CredentialRole', {
  description: 'What something uses a credential for.',
  values: {
    LOGIN: { description: 'A node is logged in to with it.' },
    BECOME: { description: 'On a node one becomes root with it.' },
    BASTION: { description: 'A node is reached through it.' },
    VIA: { description: 'Another bastion is reached through it.' },
    SOURCE: { description: 'The repository of a job template is opened with it.' },
  } as const,
})

const CredentialUse = builder.objectRef<Use>('CredentialUse').implement({
  description: 'Those that use a credential for the same.',
  fields: (t) => ({
    role: t.expose('role', { type: ROLE, description: 'What for.' }),
    count: t.int({ description: 'How many they are.', resolve: ({ names }) => names.length }),
    names: t.string({
      description: 'Which nodes, as a hostlist; of VIA the names of the bastions, of SOURCE those of the templates.',
      resolve: ({ role, names }) => (role === 'VIA' || role === 'SOURCE' ? names.sort().join(', ') : foldHostlist(names)),
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
    select ${credentials.viaId}, 'VIA', array_agg(${credentials.name}) from ${credentials}
    where ${visibleTo(ctx, credentials)} and ${credentials.viaId} = any(${sql.param([...ids])}::uuid[]) group by ${credentials.viaId}
    union all
    select ${jobTemplates.gitCredentialId}, 'SOURCE', array_agg(${jobTemplates.name}) from ${jobTemplates}
    where ${visibleTo(ctx, jobTemplates)} and ${jobTemplates.gitCredentialId} = any(${sql.param([...ids])}::uuid[]) group by ${jobTemplates.gitCredentialId}
    order by role desc`)
  return Map.groupBy(rows, ({ id }) => id)
})

const SecretRef = builder.objectRef<{ field: SecretFieldName; path: string; key: string }>('SecretRef').implement({
  description: 'Where in a secret store the value of a field is.',
  fields: (t) => ({
    field: t.expose('field', { type: SecretField, description: 'Which field.' }),
    path: t.exposeString('path', { description: 'Path of the secret, below the mount.' }),
    key: t.exposeString('key', { description: 'Which of its keys holds the value.' }),
  }),
})

const CredentialResult = builder.objectRef<{ at: Date; error: string | null }>('CredentialResult').implement({
  description: 'How it went when a credential was last tested.',
  fields: (t) => ({
    isOk: t.boolean({ description: 'Whether it was accepted.', resolve: ({ error }) => error === null }),
    error: t.exposeString('error', { nullable: true, description: 'Why not, and what to do.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
  }),
})

export const Credential = builder.drizzleNode('credentials', {
  name: 'Credential',
  description: 'Something that opens nodes. Its secret fields can be set but are never given out.',
  select: { columns: { id: true } },
  id: { column: (c) => c.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, unique in the tenant.' }),
    kind: t.expose('kind', { type: CredentialKind, description: 'What it opens.' }),
    description: t.exposeString('description', { description: 'Free text; empty when there is none.' }),
    username: t.exposeString('username', {
      nullable: true,
      description: 'Login name on the bastion, or on nodes that have none of their own; on BECOME the user to become.',
    }),
    becomeMethod: t.field({
      type: BecomeMethod,
      nullable: true,
      description: 'BECOME only: the command that is used.',
      select: { columns: { becomeMethod: true } },
      resolve: (c) => (c.becomeMethod === 'sudo' || c.becomeMethod === 'su' ? c.becomeMethod : null),
    }),
    host: t.exposeString('host', {
      nullable: true,
      description: 'BASTION and GIT: host name or address at which it is reached.',
    }),
    port: t.exposeInt('port', {
      nullable: true,
      description: 'BASTION: port of its SSH server. GIT: of the server; null: the usual one.',
    }),
    via: t.relation('via', { nullable: true, description: 'BASTION only: the bastion in front of it; null: reached directly.' }),
    publicKey: t.exposeString('publicKey', {
      nullable: true,
      description: 'Public half of its private key, as in authorized_keys.',
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
      description: 'BASTION and GIT: when that key was approved.',
    }),
    offeredHostKeyFingerprint: t.string({
      nullable: true,
      description: 'BASTION only: fingerprint of the host key that it last offered and nobody has approved.',
      select: { columns: { offeredHostKey: true } },
      resolve: (c) => fingerprintOf(c.offeredHostKey),
    }),
    secretsSet: t.stringList({
      description: 'Names of its secret fields that have a value: privateKey, passphrase, password.',
      select: { columns: { encrypted: true } },
      resolve: (c) => Object.keys(c.encrypted).sort(),
    }),
    nodeCount: t.int({
      description: 'How many nodes use it, in whatever role.',
      select: { columns: { id: true } },
      resolve: async (c, _args, context) => (await nodeCounts(context, c.id)) ?? 0,
    }),
    secretRefs: t.field({
      type: [SecretRef],
      description: 'Fields whose values are in its secret store.',
      select: { columns: { secretRefs: true } },
      resolve: (c) => SECRET_FIELDS.flatMap((field) => (c.secretRefs[field] ? [{ field, ...c.secretRefs[field] }] : [])),
    }),
    usedBy: t.field({
      type: [CredentialUse],
      description: 'Who uses it, by what for; empty: nobody.',
      select: { columns: { id: true } },
      resolve: async (c, _args, context) => (await uses(context, c.id)) ?? [],
    }),
    lastResult: t.field({
      type: CredentialResult,
      nullable: true,
      description: 'How the last connection test that got as far as using it went; null: none did.',
      select: { columns: { lastResultAt: true, lastResultError: true } },
      resolve: (c) => c.lastResultAt && { at: c.lastResultAt, error: c.lastResultError },
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a worker last logged in with it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

export const credentialConnection = connectionTypes(Credential, 'Credential', 'credentials')
