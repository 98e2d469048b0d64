import { tenantPermissions } from '@muster/core/access'
import { unknownBootProfile } from '@muster/core/boot-profiles'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { BootArch, BootProfile, EffectiveBootProfileType, profileConnection } from './types.ts'

const { bootProfiles } = schema

builder.queryFields((t) => ({
  bootProfiles: t.drizzleConnection(
    {
      type: BootProfile,
      description: 'Boot profiles, ordered by name.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(bootProfiles, visibleTo(ctx, bootProfiles)),
      resolve: (query, _root, _args, { ctx }) =>
        ctx.db.query.bootProfiles.findMany(query({ where: { tenantId: ctx.tenantId }, orderBy: { name: 'asc' } })),
    },
    ...profileConnection,
  ),
  bootProfile: t.drizzleField({
    type: BootProfile,
    nullable: true,
    description: 'Boot profile with this name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.bootProfiles.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
  unknownBootProfile: t.field({
    type: EffectiveBootProfileType,
    description: 'What a machine boots whose MAC no node has.',
    authScopes: { permission: tenantPermissions.read },
    args: { arch: t.arg({ type: BootArch, required: true, description: 'Its architecture.' }) },
    resolve: (_root, { arch }, { ctx }) => unknownBootProfile(ctx, arch),
  }),
}))
