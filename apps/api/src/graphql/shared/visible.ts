import { memberPermissions, tenantPermissions, tokenPermissions } from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { credentialPermissions } from '@muster/core/credentials'
import { visibleTo } from '@muster/core/db'
import type { Permission } from '@muster/core/permissions'
import { type Ctx, graphqlIds, schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import { globalId, parseId, type TypeName } from './ids.ts'

const { members, passkeys, sessions, workers } = schema

/** Permissions to read, by type; all other types need `tenant:read`. */
const READ_PERMISSIONS: Partial<Record<TypeName, Permission>> = {
  ApiToken: tokenPermissions.read,
  Credential: credentialPermissions.read,
  Grant: memberPermissions.read,
  Invitation: memberPermissions.write,
  Member: memberPermissions.read,
  SecretStore: credentialPermissions.read,
}

/** Whether the caller may see the object. `node(id:)` loads rows by ID only, so it calls this first. */
export async function isVisible(ctx: Ctx, { typename, id }: { typename: string; id: string }): Promise<boolean> {
  const type = parseId(globalId(typename as never, id))?.type
  if (!type) return false
  // Workers serve all tenants.
  if (type === 'Worker') return (await ctx.db.$count(workers, eq(workers.id, id))) > 0
  if (type === 'Tenant') return id === ctx.tenantId
  if (type === 'User') return (await ctx.db.$count(members, and(visibleTo(ctx, members), eq(members.userId, id)))) > 0
  // Users see their own.
  if (type === 'Session' || type === 'Passkey') {
    const own = type === 'Session' ? sessions : passkeys
    return ctx.actor.kind === 'user' && (await ctx.db.$count(own, and(eq(own.userId, ctx.actor.id), eq(own.id, id)))) > 0
  }
  if (permissionDeniedReason(ctx.actor, READ_PERMISSIONS[type] ?? tenantPermissions.read)) return false
  const table = graphqlIds[type]
  return (await ctx.db.$count(table, and(visibleTo(ctx, table), eq(table.id, id)))) > 0
}
