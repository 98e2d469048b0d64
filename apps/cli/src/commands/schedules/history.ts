import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { resultText } from './list.ts'

const HISTORY = graphql(`query ScheduleHistory($name: String!, $first: Int, $after: String) {
  schedule(name: $name) {
    firings(first: $first, after: $after) {
      edges { node { id dueAt firedAt outcome reason message missedCount discoveryCount firedBy { name } run { number status } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

export const scheduleHistory = () =>
  new Command('history')
    .description('show what each past time started, or why nothing was started')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const rows = await fetchAll(async (page) => {
        const { schedule } = await request(HISTORY, { name, ...page })
        if (!schedule) throw new CliError(`No schedule named ${name}. See \`muster schedule list\`.`, EXIT.notFound)
        return schedule.firings
      })
      printRows(
        rows,
        [
          { title: 'DUE', value: (f) => f.dueAt },
          { title: 'RESULT', value: resultText },
          { title: 'BY', value: (f) => f.firedBy?.name, wide: true },
          { title: 'MISSED', value: (f) => f.missedCount || '', wide: true },
          { title: 'DISCOVERIES', value: (f) => f.discoveryCount || '', wide: true },
          { title: 'MESSAGE', value: (f) => f.message },
        ],
        output,
        'It was not due yet.',
      )
    })
