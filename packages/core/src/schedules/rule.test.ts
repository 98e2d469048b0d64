import { RRuleTemporal } from 'rrule-temporal'
import { describe, expect, test, vi } from 'vitest'
import { blackoutFinder } from './blackouts.ts'
import { previewSchedule } from './preview-schedule.ts'
import { describeRule, parseRule, RuleError } from './rule.ts'
import { countDueTimes, nextDueTime, type Timing, upcomingTimes } from './times.ts'

const next = (rule: string, timeZone: string, after: string, count = 3, start: string | null = null) => {
  const parsed = parseRule(rule, timeZone, start ? new Date(start) : null)
  const times: string[] = []
  for (let last: Date | null = new Date(after); times.length < count; ) {
    last = parsed.next(last)
    if (!last) break
    times.push(last.toISOString().slice(0, 16))
  }
  return times
}
const timing = (fields: Partial<Timing> = {}): Timing => ({
  id: '019a0000-0000-7000-8000-000000000000',
  rule: '0 3 * * *',
  timeZone: 'Europe/Berlin',
  jitterSeconds: 0,
  blackouts: [],
  startsAt: null,
  endsAt: null,
  ...fields,
})

// In 2026, Berlin skips 02:00 to 03:00 on March 29 and repeats it on October 25; New York skips 02:00 to 03:00 on March 8 and repeats
// 01:00 to 02:00 on November 1.
describe('a local time that does not exist', () => {
  test.each([
    ['Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
    ['America/New_York', '2026-03-07T12:00Z', ['2026-03-08T07:30', '2026-03-09T06:30']],
  ])('moves one hour ahead in cron expressions: %s', (zone, after, expected) => {
    expect(next('30 2 * * *', zone, after, 2)).toEqual(expected)
  })

  test.each([
    ['Europe/Berlin', '2026-03-28T00:00Z', ['2026-03-28T01:30', '2026-03-30T00:30']],
    ['America/New_York', '2026-03-07T00:00Z', ['2026-03-07T07:30', '2026-03-09T06:30']],
  ])('is omitted in RRULEs: %s', (zone, after, expected) => {
    expect(next('FREQ=DAILY;BYHOUR=2;BYMINUTE=30', zone, after, 2)).toEqual(expected)
  })
})

describe('a local time that exists twice', () => {
  test.each([
    [
      'Europe/Berlin',
      '30 2 * * *',
      'FREQ=DAILY;BYHOUR=2;BYMINUTE=30',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      'FREQ=DAILY;BYHOUR=1;BYMINUTE=30',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:30', '2026-11-02T06:30'],
    ],
  ])('fires once, at the first: %s', (zone, cron, rrule, after, expected) => {
    expect(next(cron, zone, after, 2)).toEqual(expected)
    expect(next(rrule, zone, after, 2)).toEqual(expected)
  })

  test('does not disturb a rule that repeats through it', () => {
    expect(next('*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:45Z', 6)).toEqual(
      ['00:00', '00:30', '01:00', '01:30', '02:00', '02:30'].map((time) => `2026-10-25T${time}`),
    )
  })
})

test('an RRULE counts intervals from its start, or from one that is equal in all processes', () => {
  const rule = 'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;BYHOUR=3'
  expect(next(rule, 'UTC', '2026-01-01T00:00Z', 2, '2026-01-04T00:00Z')).toEqual(['2026-01-04T03:00', '2026-01-18T03:00'])
  expect(next(rule, 'UTC', '2026-01-05T00:00Z', 1, '2026-01-04T00:00Z')).toEqual(['2026-01-18T03:00'])
  expect(next(rule, 'UTC', '2026-01-01T00:00Z')).toEqual(next(rule, 'UTC', '2026-01-01T00:00Z'))
  expect(next('FREQ=DAILY;COUNT=2', 'UTC', '2026-01-01T00:00Z', 5, '2026-01-02T08:15Z')).toEqual([
    '2026-01-02T08:15',
    '2026-01-03T08:15',
  ])
})

test.each([
  ['0 3 * *', 'five fields'],
  ['0 0 3 * * *', 'five fields'],
  ['61 3 * * *', 'not a valid cron'],
  ['0 0 30 2 *', 'not a valid cron'],
  ['H 3 * * *', 'must not contain H'],
  ['`reboot` * * * *', 'five fields'],
  ['FREQ=SECONDLY', 'must not use seconds'],
  ['FREQ=DAILY;BYHOURS=3', 'BYHOURS'],
  ['FREQ=DAILY;FREQ=DAILY', 'each part once'],
  ['FREQ=SOMETIMES', 'FREQ=SOMETIMES is not accepted'],
  ['FREQ=DAILY;BYHOUR=3,99', 'BYHOUR=3,99 is not accepted'],
  ['FREQ=DAILY;COUNT=3', 'needs a start'],
  ['FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30', 'must not combine BYMONTH with FREQ=MINUTELY'],
  ['FREQ=HOURLY;BYDAY=MO', 'must not combine BYDAY with FREQ=HOURLY'],
  ['FREQ=DAILY;BYMONTHDAY=1', 'must not combine BYMONTHDAY with FREQ=DAILY'],
  ['FREQ=YEARLY;BYDAY=MO;BYHOUR=1,2', 'at most 1 combinations'],
  ['FREQ=WEEKLY;BYHOUR=1,2,3,4,5;BYMINUTE=0,10,20,30,40', 'at most 24 combinations'],
  ['FREQ=DAILY;INTERVAL=1000', 'INTERVAL=1000 is not accepted'],
  ['0 0 * 2 MON#5', 'must not combine #5'],
  ['DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY', 'is not accepted'],
])('rejects the rule %s', (rule, message) => {
  expect(() => parseRule(rule, 'UTC', null)).toThrow(RuleError)
  expect(() => parseRule(rule, 'UTC', null)).toThrow(message)
})

test.each(['Mars/Olympus', '+02:00', ''])('rejects the time zone %j', (zone) => {
  expect(() => parseRule('@daily', zone, null)).toThrow('IANA time zone')
})

test.each([
  ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', null],
  // Counted from the start each time: within reach now, and not at the end.
  ['FREQ=HOURLY;COUNT=1500', '2026-01-01T00:00Z'],
])('a search that has to stop is an error, not the end of the rule: %s', (rule, start) => {
  expect(() => next(rule, 'UTC', '2026-01-01T00:00Z', 1, start)).toThrow('matches too rarely')
})

describe('the preview of ten times', () => {
  const now = new Date('2026-06-05T00:00Z')
  const preview = (rule: string, blackoutRule: string) =>
    previewSchedule(
      {
        rule,
        blackouts: Array.from({ length: 20 }, (_, i) => ({ name: `${i}`, rule: blackoutRule, durationMinutes: 5 })),
      },
      now,
    )

  test('evaluates a blackout once per beginning, not once per time', () => {
    const evaluate = vi.spyOn(RRuleTemporal.prototype, 'next')
    try {
      preview('* * * * *', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29')
      // Of each blackout, one for its validation and one for the ten times.
      expect(evaluate.mock.calls.length).toBeLessThanOrEqual(40)
    } finally {
      evaluate.mockRestore()
    }
  })

  test('ends at the first blackout that never begins', () => {
    const evaluate = vi.spyOn(RRuleTemporal.prototype, 'next')
    try {
      expect(() => preview('* * * * *', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30')).toThrow(/blackouts.0.rule: matches too rarely/)
      expect(evaluate).toHaveBeenCalledTimes(1)
      expect(() => preview('* * * * *', 'FREQ=DAILY;UNTIL=20200101T000000Z')).toThrow(/blackouts.0.rule: leaves no time/)
    } finally {
      evaluate.mockRestore()
    }
  })
})

test('start and end limit the times; a due time may equal the start', () => {
  const [startsAt, endsAt] = [new Date('2026-06-01T01:00Z'), new Date('2026-06-03T00:00Z')]
  const times = upcomingTimes(timing({ startsAt, endsAt }), new Date('2026-01-01T00:00Z'))
  expect(times.map(({ dueAt }) => dueAt.toISOString())).toEqual(['2026-06-01T01:00:00.000Z', '2026-06-02T01:00:00.000Z'])
  expect(nextDueTime(timing({ endsAt }), endsAt)).toBeNull()
  expect(countDueTimes(timing(), new Date('2026-06-01T00:00Z'), new Date('2026-06-04T00:00Z'))).toBe(3)
})

test('jitter is equal for equal times, differs between times, and never exceeds its limit', () => {
  const jitter = ({ dueAt, runAt }: { dueAt: Date; runAt: Date }) => runAt.getTime() - dueAt.getTime()
  const times = upcomingTimes(timing({ jitterSeconds: 600 }), new Date('2026-01-01T00:00Z')).map(jitter)
  expect(upcomingTimes(timing({ jitterSeconds: 600 }), new Date('2026-01-01T00:00Z')).map(jitter)).toEqual(times)
  expect(new Set(times).size).toBeGreaterThan(5)
  expect(times.every((ms) => ms >= 0 && ms <= 600_000)).toBe(true)
  const [unsaved] = upcomingTimes(timing({ id: null, jitterSeconds: 600 }), new Date('2026-01-01T00:00Z'))
  expect(jitter(unsaved!)).toBe(0)
})

describe('blackouts', () => {
  const weekend = { name: 'weekend', rule: '0 18 * * FRI', durationMinutes: 60 * 60 }
  const holidays = { name: 'holidays', startsAt: '2026-12-24T00:00:00+01:00', endsAt: '2027-01-02T00:00:00+01:00' }
  const nameAt = (at: string) => blackoutFinder([weekend, holidays], 'Europe/Berlin')(new Date(at))?.name ?? null

  test.each([
    ['2026-06-05T15:59:59Z', null],
    ['2026-06-05T16:00:00Z', 'weekend'],
    ['2026-06-08T03:59:59Z', 'weekend'],
    ['2026-06-08T04:00:00Z', null],
    ['2026-12-23T23:00:00Z', 'holidays'],
    ['2027-01-01T23:00:00Z', 'weekend'],
    ['2027-01-04T23:00:00Z', null],
  ])('at %s: %s', (at, name) => {
    expect(nameAt(at)).toBe(name)
  })

  test('are shown in the preview', () => {
    const times = upcomingTimes(timing({ blackouts: [weekend] }), new Date('2026-06-05T00:00Z'), 4)
    expect(times.map(({ blackout }) => blackout?.name ?? null)).toEqual([null, 'weekend', 'weekend', 'weekend'])
  })
})

test('describes rules in words', async () => {
  expect(await describeRule('0 3 * * SUN')).toBe('At 03:00, only on Sunday')
  expect(await describeRule('0 3 * * SUN', 'zh-CN')).toBe('在03:00, 仅星期日')
  expect(await describeRule('FREQ=WEEKLY;BYDAY=SU;BYHOUR=3')).toBe('Every week on Sunday at 3 AM')
  expect(await describeRule('RRULE:FREQ=DAILY;INTERVAL=2', 'zh-CN')).toBe('每2日')
})
