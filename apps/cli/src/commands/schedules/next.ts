import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'

const NEXT = graphql(`query ScheduleNext($name: String!) { schedule(name: $name) { nextTimes { dueAt runAt blackout } } }`)

export const scheduleNext = () =>
  new Command('next')
    .description('show the next ten times, and the blackouts that cover them')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const { schedule } = await request(NEXT, { name })
      if (!schedule) throw new CliError(`No schedule named ${name}. See \`muster schedule list\`.`, EXIT.notFound)
      printRows(
        schedule.nextTimes,
        [
          { title: 'DUE', value: (t) => t.dueAt },
          { title: 'STARTS', value: (t) => (t.blackout ? `blackout ${t.blackout}` : t.runAt) },
        ],
        output,
        'The schedule is over.',
      )
    })
