import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { LIST, type SinkRow } from './fields.ts'

const stateOf = ({ isEnabled, behindSince, failingSince }: SinkRow): string => {
  if (!isEnabled) return 'off'
  if (behindSince) return `behind since ${behindSince}`
  return failingSince ? `failing since ${failingSince}` : 'on'
}

export const auditSinkList = () =>
  new Command('list')
    .description('list the receivers of audit entries with their delivery state')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, page)).auditSinks),
        [
          { title: 'NAME', value: (s) => s.name },
          { title: 'KIND', value: (s) => s.kind },
          { title: 'TO', value: (s) => s.origin ?? `${s.host}:${s.port}` },
          { title: 'STATE', value: stateOf },
          { title: 'DELIVERED', value: (s) => (s.deliveredAt ? ago(s.deliveredAt) : 'never') },
          { title: 'ERROR', value: (s) => s.lastError },
        ],
        output,
        'No audit sinks. Create one with `muster audit sink create`.',
      )
    })
