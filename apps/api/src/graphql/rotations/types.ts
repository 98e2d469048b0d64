import { permissionDeniedReason } from '@muster/core/context'
import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import {
  cancelBlockedReason,
  completeBlockedReason,
  findRotationFacts,
  type RotationFacts,
  resumeBlockedReason,
  rotateBlockedReason,
  rotationPermissions,
} from '@muster/core/rotations'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { Credential } from '../credentials/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { CredentialRotationHostStatus, CredentialRotationStatus } from './enums.ts'

const { credentialRotationHosts: hosts } = schema

type Counts = { total: number; installed: number; failed: number }

const countsOf = loader<Counts>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({
      id: hosts.rotationId,
      total: sql<number>`count(*)::int`,
      installed: sql<number>`count(*) filter (where ${hosts.installedAt} is not null)::int`,
      failed: sql<number>`count(*) filter (where ${hosts.error} is not null)::int`,
    })
    .from(hosts)
    .where(isOneOf(hosts.rotationId, [...ids]))
    .groupBy(hosts.rotationId)
  return new Map(rows.map((row) => [row.id, row]))
})

const CredentialRotationHost = builder.drizzleObject('credentialRotationHosts', {
  name: 'CredentialRotationHost',
  description: 'Progress of a rotation on one node.',
  fields: (t) => ({
    node: t.relation('node', { description: 'Node.' }),
    status: t.expose('status', { type: CredentialRotationHostStatus, description: 'Progress.' }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the last attempt failed, and the next step; null otherwise.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
})

const hostConnection = connectionTypes(CredentialRotationHost, 'CredentialRotationHost', 'nodes of a rotation')

export const CredentialRotation = builder.drizzleNode('credentialRotations', {
  name: 'CredentialRotation',
  description:
    'Replacement of the secret of a credential on all nodes that use it. A worker installs the new secret on each node and logs in with it. Then the credential changes, and the previous key is removed from the nodes.',
  select: { columns: { id: true } },
  id: { column: (r) => r.id, description: 'Rotation ID.' },
  fields: (t) => ({
    credential: t.relation('credential', { description: 'Rotated credential.' }),
    status: t.expose('status', { type: CredentialRotationStatus, description: 'State.' }),
    publicKey: t.exposeString('publicKey', {
      nullable: true,
      description: 'SSH_KEY only: new public key in authorized_keys format.',
    }),
    nodeCount: t.int({
      description: 'Number of nodes of the rotation.',
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => (await countsOf(context, id))?.total ?? 0,
    }),
    installedCount: t.int({
      description: 'Number of nodes that accept the new secret.',
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => (await countsOf(context, id))?.installed ?? 0,
    }),
    failedCount: t.int({
      description: 'Number of nodes whose last attempt failed.',
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => (await countsOf(context, id))?.failed ?? 0,
    }),
    hosts: t.relatedConnection(
      'hosts',
      {
        description: 'Progress on each node.',
        totalCount: true,
        args: { status: t.arg({ type: [CredentialRotationHostStatus], description: 'One of these states; at most 500.' }) },
        query: ({ status }) => ({ ...(status ? { where: { status: { in: status } } } : {}), orderBy: { id: 'asc' as const } }),
        ...PAGED,
      },
      ...hostConnection,
    ),
    leftCredential: t.relation('leftCredential', {
      nullable: true,
      description:
        'Credential with the previous secret, which the failed nodes use; null unless the rotation was completed without them.',
    }),
    createdBy: t.field(actorField('created', 'Actor that started the rotation.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the start.' }),
    switchedAt: t.expose('switchedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the credential got the new secret; null before.',
    }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end; null before.' }),
    resumeBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot resume the rotation; null when allowed.',
      select: { columns: { name: true, status: true } },
      resolve: (r, _args, { ctx }) => permissionDeniedReason(ctx.actor, rotationPermissions.write) ?? resumeBlockedReason(r),
    }),
    completeBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot complete the rotation without its failed nodes; null when allowed.',
      select: { columns: { name: true, status: true } },
      resolve: (r, _args, { ctx }) => permissionDeniedReason(ctx.actor, rotationPermissions.write) ?? completeBlockedReason(r),
    }),
    cancelBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot cancel the rotation; null when allowed.',
      select: { columns: { name: true, status: true, switchedAt: true } },
      resolve: (r, _args, { ctx }) => permissionDeniedReason(ctx.actor, rotationPermissions.write) ?? cancelBlockedReason(r),
    }),
  }),
})

const rotationConnection = connectionTypes(CredentialRotation, 'CredentialRotation', 'rotations of a credential')

const factsOf = loader<RotationFacts>(({ ctx }, ids) => findRotationFacts(ctx.db, ctx, ids))

builder.drizzleObjectFields(Credential, (t) => ({
  rotateBlockedReason: t.string({
    nullable: true,
    description: 'Reason why the caller cannot rotate the secret on the nodes; null when allowed.',
    select: { columns: { id: true, name: true, kind: true, encrypted: true } },
    resolve: async (credential, _args, context) =>
      permissionDeniedReason(context.ctx.actor, rotationPermissions.write) ??
      rotateBlockedReason(credential, (await factsOf(context, credential.id))!),
  }),
  rotations: t.relatedConnection(
    'rotations',
    { description: 'Rotations of the secret, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...rotationConnection,
  ),
}))
