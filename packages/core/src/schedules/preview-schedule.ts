import { z } from 'zod'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { TIMING_FIELDS, timingIssues } from './schedule-fields.ts'
import { upcomingTimes } from './times.ts'

export const PreviewScheduleInput = z.object({
  ...TIMING_FIELDS,
  timeZone: TIMING_FIELDS.timeZone.nullish(),
  jitterSeconds: TIMING_FIELDS.jitterSeconds.nullish(),
  blackouts: TIMING_FIELDS.blackouts.nullish(),
  startsAt: TIMING_FIELDS.startsAt.nullish(),
  endsAt: TIMING_FIELDS.endsAt.nullish(),
})
export type SchedulePreview = { rule: string; times: ReturnType<typeof upcomingTimes> }

/** The next ten times of a rule, without jitter. Reads nothing. @throws InvalidInput */
export function previewSchedule(input: z.input<typeof PreviewScheduleInput>, now = new Date()): SchedulePreview {
  const given = parseInput(PreviewScheduleInput, input)
  const timing = {
    rule: given.rule,
    timeZone: given.timeZone ?? 'UTC',
    jitterSeconds: given.jitterSeconds ?? 0,
    blackouts: given.blackouts ?? [],
    startsAt: given.startsAt ?? null,
    endsAt: given.endsAt ?? null,
  }
  const issues = timingIssues(timing, now)
  if (issues.length > 0) throw new InvalidInput(issues)
  return { rule: timing.rule, times: upcomingTimes({ ...timing, id: null }, now) }
}
