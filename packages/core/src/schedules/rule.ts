import { CronExpressionParser } from 'cron-parser'
import { RRuleTemporal } from 'rrule-temporal'

/** Points in time: in a time zone, without end or with one. */
export type Rule = {
  /** The first time after `after`; null when the rule is over. @throws RuleError when the search for it had to stop */
  next(after: Date): Date | null
}

/** Why a rule or a time zone cannot be used, as the predicate of a sentence: `must have five fields …`. */
export class RuleError extends Error {}

const PRESETS = new Set(['@hourly', '@daily', '@weekly', '@monthly', '@yearly', '@annually'])
const CRON_FIELD = /^[\d*,/#L?A-Z-]+$/i
type Frequency = { maxSteps: number; maxTimesOfDay: number; limits: string[] }
const TIMES = ['BYHOUR', 'BYMINUTE']
/**
 * What a rule may combine, so that each evaluation takes a few milliseconds: the process can do nothing else in that time. `maxSteps`
 * limits the periods without a match; leap days need 8 years.
 */
const FREQUENCIES: Record<string, Frequency> = {
  MINUTELY: { maxSteps: 1000, maxTimesOfDay: 1, limits: [] },
  HOURLY: { maxSteps: 1000, maxTimesOfDay: 60, limits: ['BYMINUTE'] },
  DAILY: { maxSteps: 1500, maxTimesOfDay: 24, limits: ['BYMONTH', 'BYDAY', ...TIMES] },
  WEEKLY: { maxSteps: 500, maxTimesOfDay: 24, limits: ['BYMONTH', 'BYDAY', ...TIMES] },
  MONTHLY: { maxSteps: 200, maxTimesOfDay: 4, limits: ['BYMONTH', 'BYDAY', 'BYMONTHDAY', 'BYSETPOS', ...TIMES] },
  YEARLY: {
    maxSteps: 100,
    maxTimesOfDay: 1,
    limits: ['BYMONTH', 'BYDAY', 'BYMONTHDAY', 'BYSETPOS', 'BYYEARDAY', 'BYWEEKNO', ...TIMES],
  },
}
const STOPPED = 'matches too rarely, or has a COUNT that is too large: set an end instead'
/** RFC 5545 counts intervals from the start. Without one they count from this midnight, so that all processes agree. */
const EPOCH = '20000101T000000'
/** Values by part. The library drops parts and values that it does not know, and the rule would then fire at other times. */
const PARTS: Record<string, RegExp> = {
  FREQ: /^(MINUTELY|HOURLY|DAILY|WEEKLY|MONTHLY|YEARLY)$/,
  UNTIL: /^\d{8}(T\d{6}Z?)?$/,
  COUNT: /^[1-9]\d{0,4}$/,
  INTERVAL: /^[1-9]\d{0,2}$/,
  BYMINUTE: list('[1-5]?\\d'),
  BYHOUR: list('1?\\d|2[0-3]'),
  BYDAY: list('([+-]?\\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)'),
  BYMONTHDAY: list('-?([1-9]|[12]\\d|3[01])'),
  BYYEARDAY: list('-?([1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  BYWEEKNO: list('-?([1-9]|[1-4]\\d|5[0-3])'),
  BYMONTH: list('[1-9]|1[0-2]'),
  BYSETPOS: list('-?([1-9]|[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])'),
  WKST: /^(MO|TU|WE|TH|FR|SA|SU)$/,
}
function list(value: string): RegExp {
  return new RegExp(`^(${value})(,(${value}))*$`)
}

export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    // Offsets such as +02:00 have no daylight saving time, which users of a zone expect.
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}

export const isRRule = (text: string): boolean => /(^|[;:])FREQ=/i.test(text)

/**
 * Parses a cron expression with five fields, or an RRULE of RFC 5545 without its other properties. Of a local time that exists twice,
 * both use the first. A local time that does not exist moves one hour ahead in cron expressions; RRULEs omit it.
 * @param start of an RRULE, which fixes the phase of INTERVAL and COUNT, and the time of day that the rule does not give
 * @throws RuleError
 */
export function parseRule(text: string, timeZone: string, start: Date | null): Rule {
  if (!isTimeZone(timeZone)) throw new RuleError(`must be an IANA time zone such as Europe/Berlin; ${timeZone} is none`)
  return remembering(isRRule(text) ? parseRRule(text, timeZone, start) : parseCron(text, timeZone))
}

/** Evaluates a rule once for all times before its next time, and does not repeat a search that had to stop. */
function remembering(search: (after: Date) => Date | null): Rule {
  let last: { after: Date; found: Date | null } | null = null
  let stopped: RuleError | null = null
  return {
    next(after) {
      if (stopped) throw stopped
      if (!last || after < last.after || (last.found && after >= last.found))
        try {
          last = { after, found: search(after) }
        } catch (error) {
          stopped = new RuleError(STOPPED, { cause: error })
          throw stopped
        }
      return last.found
    },
  }
}

function parseCron(text: string, timeZone: string): (after: Date) => Date | null {
  const fields = text.trim().split(/\s+/)
  const isPreset = PRESETS.has(text.trim())
  if (!isPreset && (fields.length !== 5 || !fields.every((field) => CRON_FIELD.test(field))))
    throw new RuleError(
      'must be a cron expression with five fields, such as 0 3 * * SUN, or an RRULE, such as FREQ=DAILY;BYHOUR=3',
    )
  // H is a random value, which differs between processes.
  if (fields.some((field) => /(^|[,/-])H/i.test(field))) throw new RuleError('must not contain H; use the jitter')
  if (fields[3] !== '*' && fields[4]?.includes('#5'))
    throw new RuleError('must not combine #5 with months: a month has a fifth weekday in few years')
  const parse = (currentDate: Date) => CronExpressionParser.parse(text.trim(), { currentDate, tz: timeZone })
  try {
    parse(new Date(0))
  } catch (error) {
    throw new RuleError(`is not a valid cron expression: ${(error as Error).message}`)
  }
  return (after) => parse(after).next().toDate()
}

function parseRRule(text: string, timeZone: string, start: Date | null): (after: Date) => Date | null {
  const parts = text
    .trim()
    .replace(/^RRULE:/i, '')
    .toUpperCase()
  const pairs = parts.split(';').map((part) => part.split('=') as [name: string, value?: string])
  const names = pairs.map(([name]) => name)
  if (names.includes('BYSECOND') || /FREQ=SECONDLY/.test(parts))
    throw new RuleError('must not use seconds; the smallest unit is MINUTELY')
  const wrong = pairs.find(([name, value = '']) => !PARTS[name]?.test(value))
  if (wrong) throw new RuleError(`must be an RRULE with known parts and values; ${wrong.join('=').slice(0, 80)} is not accepted`)
  if (new Set(names).size < names.length) throw new RuleError('must have each part once')
  const values = new Map(pairs.map(([name, value = '']) => [name, value] as const))
  const { maxSteps, maxTimesOfDay, limits } = FREQUENCIES[values.get('FREQ')!]!
  const extra = names.find((name) => name.startsWith('BY') && !limits.includes(name))
  if (extra) throw new RuleError(`must not combine ${extra} with FREQ=${values.get('FREQ')}: use a longer FREQ, such as MONTHLY`)
  const timesOfDay = TIMES.reduce((product, name) => product * (values.get(name)?.split(',').length ?? 1), 1)
  if (timesOfDay > maxTimesOfDay)
    throw new RuleError(`must have at most ${maxTimesOfDay} combinations of BYHOUR and BYMINUTE; use a shorter FREQ, or cron`)
  if (names.includes('COUNT') && !start) throw new RuleError('has a COUNT, which needs a start: set one')
  const dtstart = start ? localTime(start, timeZone) : EPOCH
  let rule: RRuleTemporal
  try {
    rule = new RRuleTemporal({
      rruleString: `DTSTART;TZID=${timeZone}:${dtstart}\nRRULE:${parts}`,
      maxIterations: maxSteps,
      strict: true,
    })
  } catch (error) {
    throw new RuleError(`is not a valid RRULE: ${(error as Error).message}`)
  }
  const search = (after: Date) => {
    const found = rule.next(after)
    return found ? new Date(found.epochMilliseconds) : null
  }
  if (names.includes('COUNT'))
    try {
      // Counting begins at the start each time, so that the last time must be within reach.
      search(new Date('9999-01-01'))
    } catch {
      throw new RuleError(STOPPED)
    }
  return search
}

/** The local time in the basic format of RFC 5545, at a full minute. */
function localTime(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at)
  const of = (type: string) => parts.find((part) => part.type === type)!.value
  return `${of('year')}${of('month')}${of('day')}T${of('hour')}${of('minute')}00`
}

/** Languages of `describeRule`, as the libraries name them. */
const LOCALES = { en: { cron: 'en', rrule: 'en' }, 'zh-CN': { cron: 'zh_CN', rrule: 'zh' } } as const
export type RuleLanguage = keyof typeof LOCALES

/** Describes a valid rule in words: `At 03:00, only on Sunday`. */
export async function describeRule(text: string, language: RuleLanguage = 'en'): Promise<string> {
  const locale = LOCALES[language]
  if (isRRule(text)) {
    const { toText } = await import('rrule-temporal/totext')
    const parts = text
      .trim()
      .replace(/^RRULE:/i, '')
      .toUpperCase()
    const words = toText(`DTSTART:${EPOCH}Z\nRRULE:${parts}`, locale.rrule, { excludeTzAbbreviation: true })
    return language === 'en' ? words.charAt(0).toUpperCase() + words.slice(1) : words.replaceAll(' ', '')
  }
  // All languages of the library take time to load, and only descriptions need them.
  const { default: cronstrue } = await import('cronstrue/i18n.js')
  // Its type declarations are those of a CommonJS module.
  const library = cronstrue as unknown as { toString(expression: string, options: object): string }
  return library.toString(text.trim(), { locale: locale.cron, use24HourTimeFormat: true })
}
