import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { commaList, integer, omitUndefined, pointInTime, someOf } from '../../../options.ts'
import { printRows } from '../../../output.ts'
import { givenCluster, warnIfOld, withCluster } from '../../clusters/find-cluster.ts'
import { type ActionInput, type ActionOptions, runAction, withAction } from './run-action.ts'

const LIST = graphql(`query SlurmReservationList($id: ID!) {
  slurmCluster(id: $id) {
    name state refreshedAt failingSince lastError
    reservations { name startAt endAt nodeList nodeCount users accounts flags }
  }
}`)

const list = () =>
  withCluster(new Command('list').description('list the reservations of a cluster'))
    .withOutput()
    .action(async ({ cluster, ...options }: Output & { cluster?: string }) => {
      const { slurmCluster } = await request(LIST, { id: await givenCluster(cluster === undefined ? {} : { cluster }) })
      if (slurmCluster) warnIfOld(slurmCluster)
      printRows(
        (slurmCluster?.reservations ?? []).map((row) => ({ ...row, id: row.name })),
        [
          { title: 'NAME', value: (r) => r.name },
          { title: 'START', value: (r) => r.startAt },
          { title: 'END', value: (r) => r.endAt },
          { title: 'NODES', value: (r) => r.nodeList || r.nodeCount },
          { title: 'FOR', value: (r) => [...r.users, ...r.accounts].join(',') },
          { title: 'FLAGS', value: (r) => r.flags.join(',') },
        ],
        options,
        'The cluster has no reservations.',
      )
    })

type Options = ActionOptions & {
  start?: string
  duration?: number
  nodes?: string
  user?: string[]
  account?: string[]
  flag?: ('MAINT' | 'IGNORE_JOBS' | 'FLEX')[]
}

const withFields = (command: Command): Command =>
  command
    .argument('<name>')
    .option('--start <time>', 'start in ISO 8601', pointInTime)
    .option('--duration <minutes>', 'duration in minutes', integer)
    .option('--nodes <hostlist>', 'its nodes')
    .option('--user <names>', 'users who may use it, separated by commas', commaList)
    .option('--account <names>', 'accounts that may use it, separated by commas', commaList)

const change = (what: string, verb: ActionInput['verb'], command: Command) =>
  withAction(command).action(async (name: string, { start, duration, nodes, user, account, flag, ...options }: Options) =>
    runAction(
      what,
      {
        verb,
        reservation: {
          name,
          ...omitUndefined({
            startAt: start,
            durationMinutes: duration,
            hostlist: nodes,
            users: user,
            accounts: account,
            flags: flag,
          }),
        },
      },
      options,
    ),
  )

export const slurmReservationCommands = () => [
  list(),
  change(
    'Create',
    'CREATE_RESERVATION',
    withFields(new Command('create').description('create a reservation, by default from now')).option(
      '--flag <flag>',
      'maint, ignore-jobs or flex; repeatable',
      someOf('MAINT', 'IGNORE_JOBS', 'FLEX'),
    ),
  ),
  change('Change', 'UPDATE_RESERVATION', withFields(new Command('update').description('change a reservation'))),
  change('Delete', 'DELETE_RESERVATION', new Command('delete').description('delete a reservation').argument('<name>')),
]
