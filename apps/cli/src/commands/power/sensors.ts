import { Command, type Output } from '../../command.ts'
import { printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { readingOf } from './read-node.ts'

export const powerSensors = () =>
  new Command('sensors')
    .description('show the sensors of a node, as its BMC last reported them')
    .argument('<selector>', ONE_NODE_HELP)
    .option('--refresh', 'read the BMC now')
    .withOutput()
    .action(async (selector: string, { refresh, ...output }: Output & { refresh?: true }) => {
      const reading = await readingOf(selector, refresh ?? false)
      printRows(
        (reading?.sensors ?? []).map((sensor, i) => ({ ...sensor, id: String(i) })),
        [
          { title: 'SENSOR', value: (s) => s.name },
          { title: 'KIND', value: (s) => s.kind },
          { title: 'READING', value: (s) => (s.value === null ? null : `${s.value} ${s.unit}`.trim()) },
          { title: 'HEALTH', value: (s) => s.health },
        ],
        output,
        'No sensors.',
      )
    })
