import { memberPermissions } from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { visibleTo } from '@muster/core/db'
import { type Ctx, graphqlIds, schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import { globalId, parseId } from './ids.ts'

const { members, sessions, workers } = schema

/** Whether the caller may see the object. `node(id:)` loads rows by ID only, so it calls this first. */
export async function isVisible(ctx: Ctx, { typename, id }: { typename: string; id: string }): Promise<boolean> {
  const type = parseId(globalId(typename as never, id))?.type
  if (!type) return false
  // Workers serve all tenants.
  if (type === 'Worker') return (await ctx.db.$count(workers, eq(workers.id, id))) > 0
  if (type === 'Tenant') return id === ctx.tenantId
  if (type === 'User') return (await ctx.db.$count(members, and(visibleTo(ctx, members), eq(members.userId, id)))) > 0
  // Users see their own.
  if (type === 'Session')
    return (
      ctx.actor.kind === 'user' &&
      (await ctx.db.$count(sessions, and(eq(sessions.userId, ctx.actor.id), eq(sessions.id, id)))) > 0
    )
  if (type === 'ApiToken' && ctx.actor.kind !== 'system' && 'role' in ctx.actor && ctx.actor.role === 'viewer') return false
  if (type === 'Invitation' && permissionDeniedReason(ctx.actor, memberPermissions.write)) return false
  const table = graphqlIds[type]
  return (await ctx.db.$count(table, and(visibleTo(ctx, table), eq(table.id, id)))) > 0
}
