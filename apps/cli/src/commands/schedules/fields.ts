import { InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import type { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { commaList, integer, omitUndefined, oneOf } from '../../options.ts'
import { addVars } from '../runs/run.ts'

type Blackout = { name: string; rule?: string; durationMinutes?: number; startsAt?: string; endsAt?: string }
type CatchUp = 'SKIP' | 'RUN_ONCE'
type Overlap = 'SKIP' | 'ALLOW' | 'CANCEL_PREVIOUS'

export type ScheduleOptions = {
  template?: string
  limit?: string
  rule?: string
  timeZone?: string
  description?: string
  jitter?: number
  catchUp?: CatchUp
  overlap?: Overlap
  blackout?: Blackout[]
  starts?: string
  ends?: string
  extraVars?: Record<string, unknown>
  become?: boolean
  forks?: number
  timeout?: number
  tags?: string[]
  skipTags?: string[]
  check?: true
  diff?: true
}

/** Options of `create` and `update`. */
export const withScheduleFields = (command: Command): Command =>
  command
    .option('--template <template>', 'run this job template')
    .option('-l, --limit <expression>', 'selector of the nodes, resolved at each time')
    .option('--rule <rule>', "cron expression ('0 3 * * SUN') or RRULE ('FREQ=WEEKLY;BYDAY=SU;BYHOUR=3')")
    .option('--time-zone <zone>', 'IANA time zone of the rule (default: UTC)')
    .option('--description <text>', 'description')
    .option('--jitter <seconds>', 'delay each time by 0 to this number of seconds', integer)
    .option('--catch-up <policy>', 'missed times: SKIP or RUN_ONCE (default: SKIP)', oneOf('SKIP', 'RUN_ONCE'))
    .option(
      '--overlap <policy>',
      'while earlier work has not ended: SKIP, ALLOW or CANCEL_PREVIOUS (default: SKIP)',
      oneOf('SKIP', 'ALLOW', 'CANCEL_PREVIOUS'),
    )
    .option(
      '--blackout <period>',
      "start nothing in it: 'NAME: RULE for MINUTES' or 'NAME: START to END'; repeatable",
      (text: string, before: Blackout[] = []) => [...before, parseBlackout(text)],
    )
    .option('--starts <time>', 'start nothing before, such as 2027-01-01T00:00:00Z')
    .option('--ends <time>', 'start nothing after')
    .option('-e, --extra-vars <vars>', 'extra vars of the runs: key=value, YAML, JSON or @FILE; repeatable', addVars)
    .option('--become', 'run tasks as the become user of the template')
    .option('--no-become', 'run tasks as the login user')
    .option('-f, --forks <n>', 'parallel hosts', integer)
    .option('--timeout <seconds>', 'cancel a run after this time', integer)
    .option('-t, --tags <tags>', 'only tasks with one of these tags, separated by commas', commaList)
    .option('--skip-tags <tags>', 'skip tasks with one of these tags', commaList)
    .option('-C, --check', 'dry run: report changes only')
    .option('-D, --diff', 'show changes of files')

function parseBlackout(text: string): Blackout {
  const [, name, recurring, minutes, startsAt, endsAt] = /^([^:]+): *(?:(.+) for (\d+)|(\S+) to (\S+))$/.exec(text) ?? []
  if (!name) throw new InvalidArgumentError("Use 'NAME: RULE for MINUTES' or 'NAME: START to END'.")
  return recurring ? { name, rule: recurring, durationMinutes: Number(minutes) } : { name, startsAt: startsAt!, endsAt: endsAt! }
}

/** Input fields of the API for the options. */
export function scheduleFields(options: ScheduleOptions) {
  const { template, limit, rule, timeZone, description, catchUp, overlap, blackout, starts, ends } = options
  const { extraVars, become, forks, tags, skipTags, check, diff } = options
  const settings = omitUndefined({
    extraVars,
    become,
    forks,
    timeoutSeconds: options.timeout,
    jobTags: tags,
    skipTags,
    checkMode: check,
    diffMode: diff,
  })
  return omitUndefined({
    template,
    limit,
    rule,
    timeZone,
    description,
    jitterSeconds: options.jitter,
    catchUp,
    overlap,
    blackouts: blackout,
    startsAt: starts,
    endsAt: ends,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  })
}

const FIND = graphql(`query ScheduleByName($name: String!) { schedule(name: $name) { id name isEnabled } }`)

/** The schedule with this name. */
export async function findSchedule(name: string): Promise<{ id: string; name: string; isEnabled: boolean }> {
  const { schedule } = await request(FIND, { name })
  if (!schedule) throw new CliError(`No schedule named ${name}. See \`muster schedule list\`.`, EXIT.notFound)
  return schedule
}
