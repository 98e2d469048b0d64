import { permissionDeniedReason } from '@muster/core/context'
import { credentialPermissions, type CredentialKey as Key, rotateBlockedReason } from '@muster/core/credentials'
import { builder } from '../../../builder.ts'
import { EncryptedObjectType } from './enums.ts'

const CredentialKeyFailure = builder.objectRef<Key['failed'][number]>('CredentialKeyFailure').implement({
  description: 'An object whose secrets could not be re-encrypted. It is unchanged.',
  fields: (t) => ({
    objectType: t.expose('what', { type: EncryptedObjectType, description: 'Type of the object.' }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    reason: t.exposeString('reason', { description: 'Reason and next step.' }),
  }),
})

export const CredentialKey = builder.objectRef<Key>('CredentialKey').implement({
  description: 'Encryption key of all tenants, and the progress of its rotation.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version; each rotation increments it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    totalCount: t.exposeInt('total', { description: 'Number of objects of the tenant with secrets.' }),
    pendingCount: t.exposeInt('left', {
      description: 'Number of objects of all tenants that are not re-encrypted yet; 0 when the rotation has finished.',
    }),
    failedCount: t.int({ description: 'Number of objects that could not be re-encrypted.', resolve: (key) => key.failed.length }),
    failures: t.field({
      type: [CredentialKeyFailure],
      description: 'Objects that could not be re-encrypted; at most 100.',
      resolve: (key) => key.failed.slice(0, 100),
    }),
    olderVersionsInUse: t.intList({
      description:
        'Older versions that still encrypt secrets of any tenant. Other older versions are no longer needed. At most one per rotation.',
      resolve: (key) => key.olderInUse,
    }),
    rotateBlockedReason: t.string({
      nullable: true,
      description: 'Reason why the caller cannot rotate the key; null when allowed.',
      resolve: (key, _args, { ctx }) =>
        permissionDeniedReason(ctx.actor, credentialPermissions.rotateKey) ?? rotateBlockedReason(key),
    }),
  }),
})
