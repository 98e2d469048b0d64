import { localTime } from '@/ui/local-time.ts'
import type { CreateInput, Schedule } from './documents.ts'

export type BlackoutForm = { name: string; isRecurring: boolean; rule: string; minutes: string; from: string; to: string }
export type ScheduleForm = {
  name: string
  description: string
  target: 'RUN' | 'DISCOVERY'
  template: string
  limit: string
  vars: string
  checkMode: boolean
  rule: string
  timeZone: string
  jitter: string
  startsAt: string
  endsAt: string
  catchUp: 'SKIP' | 'RUN_ONCE'
  overlap: 'SKIP' | 'ALLOW' | 'CANCEL_PREVIOUS'
  blackouts: BlackoutForm[]
}

export const newForm = (given: Partial<ScheduleForm>): ScheduleForm => ({
  ...{ name: '', description: '', target: 'RUN', template: '', limit: '', vars: '', checkMode: false },
  ...{ rule: '0 3 * * *', timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, jitter: '0', startsAt: '', endsAt: '' },
  ...{ catchUp: 'SKIP', overlap: 'SKIP', blackouts: [] },
  ...given,
})

export const newBlackout = (): BlackoutForm => ({
  name: '',
  isRecurring: true,
  rule: '0 18 * * FRI',
  minutes: '60',
  from: '',
  to: '',
})

const local = (iso: string | null) => (iso ? localTime(iso) : '')
const iso = (text: string) => (text ? new Date(text).toISOString() : null)

export const formOf = (schedule: Schedule): ScheduleForm => ({
  name: schedule.name,
  description: schedule.description,
  target: schedule.target,
  template: schedule.template?.name ?? '',
  limit: schedule.limit,
  vars: varsText(schedule),
  checkMode: schedule.settings.checkMode ?? false,
  rule: schedule.rule,
  timeZone: schedule.timeZone,
  jitter: String(schedule.jitterSeconds),
  startsAt: local(schedule.startsAt),
  endsAt: local(schedule.endsAt),
  catchUp: schedule.catchUp,
  overlap: schedule.overlap,
  blackouts: schedule.blackouts.map(({ name, rule, durationMinutes, startsAt, endsAt }) => ({
    ...{ name, isRecurring: rule !== null, rule: rule ?? '', minutes: String(durationMinutes ?? 60) },
    ...{ from: local(startsAt), to: local(endsAt) },
  })),
})

function varsText({ settings: { extraVars } }: Schedule): string {
  return extraVars && Object.keys(extraVars).length > 0 ? JSON.stringify(extraVars, null, 2) : ''
}

/** The fields that decide when a schedule fires. */
export const timingOf = (form: ScheduleForm) => ({
  rule: form.rule.trim(),
  timeZone: form.timeZone.trim() || 'UTC',
  jitterSeconds: Number(form.jitter) || 0,
  startsAt: iso(form.startsAt),
  endsAt: iso(form.endsAt),
  blackouts: form.blackouts.map(({ name, isRecurring, rule, minutes, from, to }) =>
    isRecurring ? { name, rule, durationMinutes: Number(minutes) || 0 } : { name, startsAt: iso(from), endsAt: iso(to) },
  ),
})

type Vars = Record<string, unknown> | null
/** `settings` keeps what the form does not show. */
export const inputOf = (form: ScheduleForm, vars: Vars, before: Schedule | null): CreateInput => ({
  ...timingOf(form),
  ...{ name: form.name.trim(), description: form.description, target: form.target, limit: form.limit.trim() },
  ...{ catchUp: form.catchUp, overlap: form.overlap },
  ...(form.target === 'RUN' && { template: form.template }),
  ...(form.target === 'RUN' && !before?.settings.drainsSlurmNodes && { settings: settingsOf(form, vars, before) }),
})

function settingsOf(form: ScheduleForm, vars: Vars, before: Schedule | null) {
  const { drainsSlurmNodes: _drains, ...kept } = before?.settings ?? {}
  return { ...kept, extraVars: (vars ?? {}) as never, checkMode: form.checkMode }
}
