import { Command, type Output } from '../../command.ts'
import { printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { readingOf } from './read-node.ts'

export const powerEvents = () =>
  new Command('events')
    .description('show the event log of the BMC of a node, newest first')
    .argument('<selector>', ONE_NODE_HELP)
    .option('--refresh', 'read the BMC now')
    .withOutput()
    .action(async (selector: string, { refresh, ...output }: Output & { refresh?: true }) => {
      const reading = await readingOf(selector, refresh ?? false)
      printRows(
        (reading?.events ?? []).map((event) => ({ ...event, id: event.entryId, name: event.entryId })),
        [
          { title: 'TIME', value: (e) => e.at },
          { title: 'SEVERITY', value: (e) => e.severity },
          { title: 'MESSAGE', value: (e) => e.message },
        ],
        output,
        'No events.',
      )
    })
