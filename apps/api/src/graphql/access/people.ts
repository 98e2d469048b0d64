import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { builder } from '../../builder.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { RoleType } from './enums.ts'

const { users } = schema

export const Tenant = builder.drizzleNode('tenants', {
  name: 'Tenant',
  description: 'An organization or team. Every other object belongs to one tenant and is visible only to its members.',
  select: { columns: { id: true } },
  id: { column: (tenant) => tenant.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the installation.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the tenant was created.' }),
  }),
})

export const User = builder.drizzleNode('users', {
  name: 'User',
  description: 'A person who can sign in.',
  select: { columns: { id: true } },
  id: { column: (user) => user.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Display name.' }),
    email: t.exposeString('email', { description: 'Email address for signing in.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was created.' }),
  }),
})

export const Member = builder.drizzleNode('members', {
  name: 'Member',
  description: 'The membership of a user in a tenant.',
  select: { columns: { id: true } },
  id: { column: (member) => member.id },
  fields: (t) => ({
    user: t.relation('user', { description: 'The user.' }),
    tenant: t.relation('tenant', { description: 'The tenant.' }),
    role: t.expose('role', { type: RoleType, description: 'Role of the user in the tenant.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user became a member.' }),
  }),
})

export const memberConnection = connectionTypes(Member, 'Member', 'members')

const loadUser = loader(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select()
    .from(users)
    .where(isOneOf(users.id, [...ids]))
  return new Map(rows.map((user) => [user.id, user]))
})

type ActorShape = { name: string; userId: string | null }

export const Actor = builder.objectRef<ActorShape>('Actor').implement({
  description: 'Actor that performed an action: a user, an API token, an agent or Muster itself.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the user, API token, agent or process at the time of the action.' }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user, also behind an API token; null for other actors and when the user was deleted.',
      resolve: async ({ userId }, _args, context) => (userId ? ((await loadUser(context, userId)) ?? null) : null),
    }),
  }),
})

type ActorColumns<Verb extends string> = Record<`${Verb}ById`, string | null> & Record<`${Verb}ByName`, string | null>

/**
 * Field options of the actor in the columns `…ById` and `…ByName`, written by `actorColumns` of core:
 * `createdBy: t.field(actorField('created', 'Actor that started the run.'))`. Not null.
 */
export const actorField = <Verb extends string>(verb: Verb, description: string) => ({
  type: Actor,
  description,
  select: { columns: selected(verb) },
  resolve: (row: ActorColumns<Verb>): ActorShape => actorOf(row, verb) ?? { name: '', userId: null },
})

/** The same, null when the column `…ByName` is null. */
export const nullableActorField = <Verb extends string>(verb: Verb, description: string) => ({
  type: Actor,
  nullable: true as const,
  description,
  select: { columns: selected(verb) },
  resolve: (row: ActorColumns<Verb>): ActorShape | null => actorOf(row, verb),
})

const selected = <Verb extends string>(verb: Verb) =>
  ({ [`${verb}ById`]: true, [`${verb}ByName`]: true }) as { [Column in `${Verb}ById` | `${Verb}ByName`]: true }

/** The actor in the columns `…ById` and `…ByName` of a row; null when there is none. */
export function actorOf<Verb extends string>(row: ActorColumns<Verb>, verb: Verb): ActorShape | null {
  const name = row[`${verb}ByName`] as string | null
  return name === null ? null : { name, userId: row[`${verb}ById`] as string | null }
}
