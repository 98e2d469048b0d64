import { permissionDeniedReason } from '@muster/core/context'
import { credentialPermissions, type CredentialKey as Key, rotateBlockedReason } from '@muster/core/credentials'
import { builder } from '../../../builder.ts'

const CredentialKeyFailure = builder.objectRef<Key['failed'][number]>('CredentialKeyFailure').implement({
  description: 'Something whose secrets could not be sealed anew; it is as it was.',
  fields: (t) => ({
    what: t.exposeString('what', { description: 'What it is: `credential`, `secret store`, …' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    reason: t.exposeString('reason', { description: 'Why, and what to do.' }),
  }),
})

export const CredentialKey = builder.objectRef<Key>('CredentialKey').implement({
  description:
    'The key that secrets are sealed with, which is the same for all tenants, and how far its rotation is in this one. Ask again to see it go on.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its version; each rotation makes the next one.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    total: t.exposeInt('total', { description: 'How many objects of the tenant hold secrets.' }),
    left: t.exposeInt('left', { description: 'How many of them a worker has yet to seal anew; 0: the rotation is over.' }),
    failed: t.expose('failed', { type: [CredentialKeyFailure], description: 'Those that could not be sealed anew.' }),
    olderVersionsInUse: t.intList({
      description: 'Older versions that something, of any tenant, is still sealed with. The others are not needed any more.',
      resolve: (key) => key.olderInUse,
    }),
    rotateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot rotate it now; null: it can be rotated.',
      resolve: (key, _args, { ctx }) =>
        permissionDeniedReason(ctx.actor, credentialPermissions.write) ?? rotateBlockedReason(key),
    }),
  }),
})
