import { z } from 'zod'
import { singleLineText } from '../kernel/input.ts'
import { parseRule, type Rule, RuleError } from './rule.ts'

/** A period in which a schedule starts nothing: absolute, or recurring in the time zone of the schedule. */
export type Blackout = {
  name: string
  /** Recurring: cron expression or RRULE of its beginnings. */
  rule?: string | null | undefined
  durationMinutes?: number | null | undefined
  /** Absolute, ISO 8601. */
  startsAt?: string | null | undefined
  endsAt?: string | null | undefined
}

const MAX_MINUTES = 31 * 24 * 60
const Instant = z.iso.datetime({ offset: true, message: 'must be a time such as 2026-12-24T00:00:00Z' })

export const BlackoutInput = z
  .object({
    name: singleLineText(100),
    rule: singleLineText(500).nullish(),
    durationMinutes: z.int().min(1).max(MAX_MINUTES).nullish(),
    startsAt: Instant.nullish(),
    endsAt: Instant.nullish(),
  })
  .refine(
    ({ rule, durationMinutes, startsAt, endsAt }) =>
      rule ? Boolean(durationMinutes) && !startsAt && !endsAt : Boolean(startsAt && endsAt) && !durationMinutes,
    'needs either a rule and its duration, or a start and an end',
  )
  .refine(({ startsAt, endsAt }) => !startsAt || !endsAt || new Date(startsAt) < new Date(endsAt), 'must end after its start')

/**
 * Parses the rules of blackouts once. The result returns the blackout that covers a time; null when none does. A period includes its
 * start and not its end. @throws RuleError
 */
export function blackoutFinder(blackouts: readonly Blackout[], timeZone: string): (at: Date) => Blackout | null {
  const parsed = blackouts.map((blackout) => ({
    blackout,
    rule: blackout.rule ? parseRule(blackout.rule, timeZone, null) : null,
  }))
  return (at) =>
    parsed.find(({ blackout, rule }) => {
      if (!rule) return new Date(blackout.startsAt!) <= at && at < new Date(blackout.endsAt!)
      // The first beginning after the earliest one that could still cover `at`.
      const begin = nextBeginning(rule, new Date(at.getTime() - blackout.durationMinutes! * 60_000))
      return begin !== null && begin <= at
    })?.blackout ?? null
}

function nextBeginning(rule: Rule, after: Date): Date | null {
  try {
    return rule.next(after)
  } catch (error) {
    // The search stops far beyond the longest duration, so that no beginning is near.
    if (error instanceof RuleError) return null
    throw error
  }
}
