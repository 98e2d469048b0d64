import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { InvalidInput } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { previewSchedule } from '@muster/core/schedules'
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { MAX_COST } from '../../limits.ts'
import { PAGED } from '../shared/connections.ts'
import { contains } from '../shared/contains.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { statesDefault } from '../shared/mutation.ts'
import { ScheduleTarget } from './enums.ts'
import { blackoutsInput, RULE, timingFields } from './inputs.ts'
import { Schedule, SchedulePreview, scheduleConnection } from './types.ts'

const { schedules } = schema

const ScheduleFilter = builder.inputType('ScheduleFilter', {
  description: 'Filter of schedules. A schedule must match all fields that are given.',
  fields: (t) => ({
    text: t.string({ description: 'Has this text in the name, description or selector, ignoring case.' }),
    target: t.field({ type: ScheduleTarget, description: 'Starts this.' }),
    templateId: t.id({ description: 'Runs this template.' }),
    isEnabled: t.boolean({ description: 'Is enabled, or not.' }),
  }),
})

function conditions(filter: typeof ScheduleFilter.$inferInput | null | undefined, s: typeof schedules): SQL | undefined {
  const { text, target, isEnabled } = filter ?? {}
  const templateId = rowIdIfGiven('JobTemplate', filter?.templateId)
  return and(
    text ? or(...[s.name, s.description, s.limit].map((column) => contains(column, text))) : undefined,
    target ? eq(s.target, target) : undefined,
    templateId ? eq(s.templateId, templateId) : undefined,
    typeof isEnabled === 'boolean' ? eq(s.isEnabled, isEnabled) : undefined,
  )
}

builder.queryField('schedules', (t) =>
  t.drizzleConnection(
    {
      type: Schedule,
      description: 'Schedules, by name.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: ScheduleFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(schedules, and(visibleTo(ctx, schedules), conditions(filter, schedules))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.schedules.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (schedule) => conditions(filter, schedule) ?? sql`true` },
            orderBy: { name: 'asc' },
          }),
        ),
    },
    ...scheduleConnection,
  ),
)

builder.queryField('schedule', (t) =>
  t.drizzleField({
    type: Schedule,
    nullable: true,
    description: 'A schedule by its name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Name.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.schedules.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
)

const PreviewScheduleInput = builder.inputType('PreviewScheduleInput', {
  description: 'The fields of a schedule that decide when it starts something.',
  fields: (t) => ({ rule: t.string({ required: true, description: RULE }), ...timingFields(t, statesDefault) }),
})

builder.queryField('previewSchedule', (t) =>
  t.field({
    type: SchedulePreview,
    // Evaluates up to 21 rules ten times, in the process that serves all requests.
    complexity: MAX_COST / 10,
    description: 'Shows what a rule means, without storing anything.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [InvalidInput] },
    args: { input: t.arg({ type: PreviewScheduleInput, required: true, description: 'The fields.' }) },
    resolve: (_root, { input }) => previewSchedule({ ...input, blackouts: blackoutsInput(input.blackouts) }),
  }),
)
