import { z } from 'zod'
import { discoveryPermissions } from '../discoveries/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../kernel/context.ts'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { multilineText, singleLineText } from '../kernel/input.ts'
import { assertLaunchable, RunSettings } from '../runs/index.ts'
import { selectNodes } from '../selection/index.ts'
import { BlackoutInput } from './blackouts.ts'
import { schedulePermissions } from './permissions.ts'
import { parseRule, RuleError } from './rule.ts'
import { CATCH_UP_POLICIES, OVERLAP_POLICIES, SCHEDULE_TARGETS, type Schedule } from './tables.ts'
import { nextDueTime, shortestIntervalMs } from './times.ts'

const MAX_BLACKOUTS = 20
const MAX_JITTER_SECONDS = 86_400

/** When a schedule fires. */
export const TIMING_FIELDS = {
  rule: singleLineText(500),
  timeZone: singleLineText(100),
  jitterSeconds: z.int().min(0).max(MAX_JITTER_SECONDS),
  blackouts: z.array(BlackoutInput).max(MAX_BLACKOUTS, `at most ${MAX_BLACKOUTS}`),
  startsAt: z.date().nullable(),
  endsAt: z.date().nullable(),
}
export const SCHEDULE_FIELDS = {
  name: singleLineText(100),
  description: multilineText(4000),
  target: z.enum(SCHEDULE_TARGETS),
  /** Name of the job template of a run. */
  template: singleLineText(200).nullable(),
  limit: singleLineText(10_000),
  settings: RunSettings,
  ...TIMING_FIELDS,
  catchUp: z.enum(CATCH_UP_POLICIES),
  overlap: z.enum(OVERLAP_POLICIES),
}

export type Timing = Pick<Schedule, keyof typeof TIMING_FIELDS>

const NO_TIME = 'leaves no time in the future'

/** Issues of the fields that decide when a schedule fires. Stops at the first one: rules without a match take the most time. */
export function timingIssues(timing: Timing, now: Date): InputIssue[] {
  if (timing.startsAt && timing.endsAt && timing.endsAt <= timing.startsAt)
    return [{ path: 'endsAt', message: 'must be after the start' }]
  let path = 'rule'
  try {
    if (!nextDueTime({ ...timing, id: null }, now)) return [{ path: timing.endsAt ? 'endsAt' : 'rule', message: NO_TIME }]
    for (const [i, { rule }] of timing.blackouts.entries()) {
      path = `blackouts.${i}.rule`
      if (rule && !parseRule(rule, timing.timeZone, null).next(now)) return [{ path, message: NO_TIME }]
    }
    const intervalMs = timing.jitterSeconds > 0 ? shortestIntervalMs({ ...timing, id: null }, now) : null
    // Only one due time is pending: the next one would be late before the delay of the previous one has passed.
    if (intervalMs !== null && timing.jitterSeconds * 1000 >= intervalMs)
      return [{ path: 'jitterSeconds', message: `must be less than the time between two times, ${intervalMs / 1000} seconds` }]
    return []
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    return [{ path: error.message.includes('time zone') ? 'timeZone' : path, message: error.message }]
  }
}

type Target = Pick<Schedule, 'target' | 'limit' | 'settings' | 'overlap'> & { template: string | null }

/**
 * Checks that the caller may start the target on the nodes that match now.
 * @returns the ID of its template; null for other targets
 * @throws InvalidInput, Forbidden, NotFound, Conflict
 */
export async function assertTarget(
  tx: Tx,
  ctx: Ctx,
  { target, template, limit, settings, overlap }: Target,
): Promise<string | null> {
  const nodes = await selectNodes(ctx, limit, tx)
  const ids = nodes.map(({ id }) => id)
  await authorizeNodes(tx, ctx, schedulePermissions.write, ids)
  if (target === 'run') {
    if (!template) throw new InvalidInput([{ path: 'template', message: 'is missing: name the job template' }])
    return (await assertLaunchable(tx, ctx, { template, limit, settings })).id
  }
  const issues: InputIssue[] = []
  if (template) issues.push({ path: 'template', message: 'is only for runs' })
  if (Object.values(settings).some((value) => value !== null && value !== undefined))
    issues.push({ path: 'settings', message: 'are only for runs' })
  if (overlap === 'cancel_previous')
    issues.push({ path: 'overlap', message: 'must not be CANCEL_PREVIOUS: discoveries cannot be canceled' })
  if (issues.length > 0) throw new InvalidInput(issues)
  authorizeSomewhere(ctx, discoveryPermissions.start)
  await authorizeNodes(tx, ctx, discoveryPermissions.start, ids, { connects: true })
  return null
}
