import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { contains } from '../shared/contains.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { Trigger, triggerConnection } from './types.ts'

const { triggers } = schema

const TriggerFilter = builder.inputType('TriggerFilter', {
  description: 'Filter of triggers. A trigger must match all fields that are given.',
  fields: (t) => ({
    text: t.string({ description: 'Has this text in the name, description or selector, ignoring case.' }),
    templateId: t.id({ description: 'Runs this template.' }),
    isEnabled: t.boolean({ description: 'Is enabled, or not.' }),
  }),
})

function conditions(filter: typeof TriggerFilter.$inferInput | null | undefined, g: typeof triggers): SQL | undefined {
  const { text, isEnabled } = filter ?? {}
  const templateId = rowIdIfGiven('JobTemplate', filter?.templateId)
  return and(
    text ? or(...[g.name, g.description, g.limit].map((column) => contains(column, text))) : undefined,
    templateId ? eq(g.templateId, templateId) : undefined,
    typeof isEnabled === 'boolean' ? eq(g.isEnabled, isEnabled) : undefined,
  )
}

builder.queryFields((t) => ({
  triggers: t.drizzleConnection(
    {
      type: Trigger,
      description: 'Webhook triggers, by name.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: TriggerFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(triggers, and(visibleTo(ctx, triggers), conditions(filter, triggers))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.triggers.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (trigger) => conditions(filter, trigger) ?? sql`true` },
            orderBy: { name: 'asc' },
          }),
        ),
    },
    ...triggerConnection,
  ),
  trigger: t.drizzleField({
    type: Trigger,
    nullable: true,
    description: 'A webhook trigger by its name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.triggers.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
}))
