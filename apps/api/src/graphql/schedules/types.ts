import {
  type Blackout,
  describeRule,
  type SchedulePreview as Preview,
  scheduleWriteBlockedReason,
  upcomingTimes,
} from '@muster/core/schedules'
import { builder } from '../../builder.ts'
import { MAX_COST } from '../../limits.ts'
import { actorField, nullableActorField, ownerField } from '../access/people.ts'
import { RunSettings } from '../runs/setting-fields.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import {
  RuleLanguage,
  ScheduleCatchUp,
  ScheduleFiringOutcome,
  ScheduleFiringReason,
  ScheduleOverlap,
  ScheduleTarget,
} from './enums.ts'

const date = (text: string | null | undefined) => (text ? new Date(text) : null)

const ScheduleBlackout = builder.objectRef<Blackout>('ScheduleBlackout').implement({
  description: 'A period in which a schedule starts nothing: either recurring, or with a start and an end.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, which the history shows.' }),
    rule: t.string({
      nullable: true,
      description: 'Cron expression or RRULE of the beginnings, in the time zone of the schedule.',
      resolve: ({ rule }) => rule ?? null,
    }),
    durationMinutes: t.int({
      nullable: true,
      description: 'Length of a recurring blackout in minutes.',
      resolve: ({ durationMinutes }) => durationMinutes ?? null,
    }),
    startsAt: t.field({ type: 'DateTime', nullable: true, description: 'Start.', resolve: ({ startsAt }) => date(startsAt) }),
    endsAt: t.field({ type: 'DateTime', nullable: true, description: 'End.', resolve: ({ endsAt }) => date(endsAt) }),
  }),
})

export const ScheduleTime = builder.objectRef<Preview['times'][number]>('ScheduleTime').implement({
  description: 'A time of a schedule.',
  fields: (t) => ({
    dueAt: t.expose('dueAt', { type: 'DateTime', description: 'The time that the rule gives.' }),
    runAt: t.expose('runAt', { type: 'DateTime', description: 'The time with its jitter, at which the target is started.' }),
    blackout: t.string({
      nullable: true,
      description: 'Name of the blackout because of which the time will be skipped; null when none covers it.',
      resolve: ({ blackout }) => blackout?.name ?? null,
    }),
  }),
})

export const SchedulePreview = builder.objectRef<Preview>('SchedulePreview').implement({
  description: 'What a rule means.',
  fields: (t) => ({
    description: t.string({
      description: 'The rule in words.',
      args: { language: t.arg({ type: RuleLanguage, description: 'Language. Default: EN.' }) },
      resolve: ({ rule }, { language }) => describeRule(rule, language ?? 'en'),
    }),
    times: t.expose('times', { type: [ScheduleTime], description: 'The next times without jitter, at most 10.' }),
  }),
})

export const ScheduleFiring = builder.drizzleNode('scheduleFirings', {
  name: 'ScheduleFiring',
  description: 'The result of one due time of a schedule, or of a start by a user.',
  select: { columns: { id: true } },
  id: { column: (firing) => firing.id },
  fields: (t) => ({
    dueAt: t.expose('dueAt', { type: 'DateTime', description: 'The due time, or when a user started it.' }),
    firedAt: t.expose('createdAt', { type: 'DateTime', description: 'When a worker processed it.' }),
    outcome: t.expose('outcome', { type: ScheduleFiringOutcome, description: 'Result.' }),
    reason: t.expose('reason', {
      type: ScheduleFiringReason,
      nullable: true,
      description: 'Why nothing was started; null when the target was started.',
    }),
    firedBy: t.field(nullableActorField('requested', 'Who started it outside of the rule; null when it was due.')),
    message: t.exposeString('message', {
      nullable: true,
      description: 'Why nothing was started and the next step, or which nodes were left out.',
    }),
    missedCount: t.exposeInt('missedCount', { description: 'Number of later due times that this result also stands for.' }),
    run: t.relation('run', {
      nullable: true,
      description: 'The run; null when none was started, or retention has deleted it.',
    }),
    discoveryCount: t.int({
      description: 'Number of discoveries that were started.',
      select: { columns: { discoveryIds: true } },
      resolve: ({ discoveryIds }) => discoveryIds.length,
    }),
  }),
})

const firingConnection = connectionTypes(ScheduleFiring, 'ScheduleFiring', 'results of a schedule')

export const Schedule = builder.drizzleNode('schedules', {
  name: 'Schedule',
  description:
    'Starts runs of a job template or discoveries at the times of a rule, with the permissions that its owner has then.',
  select: { columns: { id: true } },
  id: { column: (schedule) => schedule.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    description: t.exposeString('description', { description: 'Description.' }),
    target: t.expose('target', { type: ScheduleTarget, description: 'What it starts.' }),
    template: t.relation('template', { nullable: true, description: 'The job template of the runs; null for other targets.' }),
    limit: t.exposeString('limit', { description: 'Selector of the nodes, resolved at each time.' }),
    settings: t.expose('settings', { type: RunSettings, description: 'Launch settings of the runs.' }),
    rule: t.exposeString('rule', { description: 'Cron expression or RRULE.' }),
    ruleText: t.string({
      description: 'The rule in words.',
      args: { language: t.arg({ type: RuleLanguage, description: 'Language. Default: EN.' }) },
      select: { columns: { rule: true } },
      resolve: ({ rule }, { language }) => describeRule(rule, language ?? 'en'),
    }),
    timeZone: t.exposeString('timeZone', { description: 'IANA time zone of the rule.' }),
    jitterSeconds: t.exposeInt('jitterSeconds', { description: 'Each time is delayed by 0 to this number of seconds.' }),
    catchUp: t.expose('catchUp', { type: ScheduleCatchUp, description: 'What happens with missed times.' }),
    overlap: t.expose('overlap', { type: ScheduleOverlap, description: 'What happens while earlier work has not ended.' }),
    blackouts: t.expose('blackouts', {
      type: [ScheduleBlackout],
      description: 'Periods in which nothing is started, at most 20.',
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether it starts anything.' }),
    startsAt: t.expose('startsAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Nothing is started before; null: no start.',
    }),
    endsAt: t.expose('endsAt', { type: 'DateTime', nullable: true, description: 'Nothing is started after; null: no end.' }),
    nextRunAt: t.expose('nextRunAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The next time with its jitter; null when the schedule is disabled or over.',
    }),
    nextTimes: t.field({
      type: [ScheduleTime],
      // Evaluates up to 21 rules ten times, in the process that serves all requests.
      complexity: { field: MAX_COST / 60, multiplier: 10 },
      description: 'The next times; at most 10. Also those of a disabled schedule.',
      select: {
        columns: { id: true, rule: true, timeZone: true, jitterSeconds: true, blackouts: true, startsAt: true, endsAt: true },
      },
      resolve: (schedule) => upcomingTimes(schedule, new Date()),
    }),
    firings: t.relatedConnection(
      'firings',
      { description: 'Results of past times, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
      ...firingConnection,
    ),
    owner: t.field(ownerField('User or API token that last changed or enabled it. Runs have the permissions of the owner.')),
    createdBy: t.field(actorField('created', 'Actor that created it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change, enable, disable or delete it; null when allowed.',
      select: { columns: { name: true, ownerId: true } },
      resolve: (schedule, _args, { ctx }) => scheduleWriteBlockedReason(ctx.actor, schedule),
    }),
  }),
})

export const scheduleConnection = connectionTypes(Schedule, 'Schedule', 'schedules')
