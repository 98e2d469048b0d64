import { Command } from '../../../command.ts'
import { commaList, integer, integerOrNone, omitUndefined } from '../../../options.ts'
import { type ActionInput, type ActionOptions, runAction, withAction } from './run-action.ts'

type Options = ActionOptions & {
  user?: string
  partition?: string
  state?: string[]
  signal?: string
  timeLimit?: number | 'none'
  priority?: number
}

const jobAction = (
  name: string,
  verb: ActionInput['verb'],
  what: string,
  description: string,
  extend: (command: Command) => Command = (command) => command,
) =>
  withAction(
    extend(
      new Command(name)
        .description(description)
        .argument('[ids...]', 'as squeue shows them: 15, 3_1, 3_[2-9] or 12+1')
        .option('--user <name>', 'jobs of this user')
        .option('--partition <name>', 'jobs in this partition')
        .option('--state <states>', "jobs in any of these states, in Slurm's words, separated by commas", commaList),
    ),
  ).action(async (ids: string[], { user, partition, state, signal, timeLimit, priority, ...options }: Options) => {
    const isUnlimited = timeLimit === 'none'
    const jobs = omitUndefined({ ids: ids.length > 0 ? ids : undefined, user, partition, states: state })
    const changes = omitUndefined({
      signal,
      priority,
      timeLimitMinutes: isUnlimited ? undefined : timeLimit,
      unlimitedTime: isUnlimited || undefined,
    })
    await runAction(what, { verb, jobs, ...changes }, options)
  })

export const slurmJobActions = () => [
  jobAction('hold', 'HOLD_JOBS', 'Hold', 'keep pending jobs from starting'),
  jobAction('release', 'RELEASE_JOBS', 'Release', 'release held jobs'),
  jobAction('cancel', 'CANCEL_JOBS', 'Cancel', 'cancel jobs, or send them a signal', (command) =>
    command.option('--signal <name>', 'send this signal instead, for example USR1; the jobs may continue'),
  ),
  jobAction('requeue', 'REQUEUE_JOBS', 'Requeue', 'stop running jobs and queue them again'),
  jobAction('suspend', 'SUSPEND_JOBS', 'Suspend', 'suspend running jobs'),
  jobAction('resume', 'RESUME_JOBS', 'Resume', 'resume suspended jobs'),
  jobAction('update', 'UPDATE_JOBS', 'Change', 'change the time limit or priority of jobs', (command) =>
    command
      .option('--time-limit <minutes>', 'time limit in minutes; none for no limit', integerOrNone)
      .option('--priority <n>', 'priority', integer),
  ),
]
