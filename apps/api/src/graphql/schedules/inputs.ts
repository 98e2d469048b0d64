import type { Blackout } from '@muster/core/schedules'
import { builder } from '../../builder.ts'
import { RunSettingsInput } from '../runs/setting-fields.ts'
import type { DefaultText, InputFields } from '../shared/mutation.ts'
import { ScheduleCatchUp, ScheduleOverlap } from './enums.ts'

const ScheduleBlackoutInput = builder.inputType('ScheduleBlackoutInput', {
  description: 'A period in which a schedule starts nothing. Either `rule` and `durationMinutes`, or `startsAt` and `endsAt`.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name, which the history shows.' }),
    rule: t.string({ description: 'Cron expression or RRULE of the beginnings, in the time zone of the schedule.' }),
    durationMinutes: t.int({ description: 'Length in minutes, at most 31 days.' }),
    startsAt: t.field({ type: 'DateTime', description: 'Start.' }),
    endsAt: t.field({ type: 'DateTime', description: 'End.' }),
  }),
})

export const RULE =
  'Cron expression with five fields (`0 3 * * SUN`) or an RRULE of RFC 5545 (`FREQ=WEEKLY;BYDAY=SU;BYHOUR=3`), in the time zone.'

/** Fields of a schedule that decide when it fires, apart from its rule. */
export const timingFields = (t: InputFields, defaultText: DefaultText) => ({
  timeZone: t.string({ description: `IANA time zone.${defaultText('UTC')}` }),
  jitterSeconds: t.int({
    description: `Delays each time by 0 to this number of seconds, so that schedules do not start together.${defaultText('0')}`,
  }),
  blackouts: t.field({
    type: [ScheduleBlackoutInput],
    description: `Periods in which nothing is started, at most 20.${defaultText('none')}`,
  }),
  startsAt: t.field({ type: 'DateTime', description: `Nothing is started before.${defaultText('no start')}` }),
  endsAt: t.field({ type: 'DateTime', description: `Nothing is started after.${defaultText('no end')}` }),
})

export const scheduleFields = (t: InputFields, defaultText: DefaultText) => ({
  description: t.string({ description: `Description.${defaultText('empty')}` }),
  template: t.string({ description: 'RUN only, required there: name of the job template.' }),
  settings: t.field({ type: RunSettingsInput, description: 'RUN only: launch settings.' }),
  ...timingFields(t, defaultText),
  catchUp: t.field({ type: ScheduleCatchUp, description: `What happens with missed times.${defaultText('SKIP')}` }),
  overlap: t.field({
    type: ScheduleOverlap,
    description: `What happens while earlier work has not ended.${defaultText('SKIP')}`,
  }),
})

/** Blackouts as the verbs take them. */
export const blackoutsInput = (
  blackouts: readonly (typeof ScheduleBlackoutInput.$inferInput)[] | null | undefined,
): Blackout[] | undefined =>
  blackouts?.map(({ startsAt, endsAt, ...rest }) => ({
    ...rest,
    startsAt: startsAt?.toISOString() ?? null,
    endsAt: endsAt?.toISOString() ?? null,
  }))
