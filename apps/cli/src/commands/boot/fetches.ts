import { Command, type Output } from '../../command.ts'
import { printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { attemptsOf, profileText } from './attempts.ts'

const BOOTS = 20

export const bootFetches = () =>
  new Command('fetches')
    .description(`list what a node fetched in its last ${BOOTS} boots, the newest boot first`)
    .argument('<selector>', ONE_NODE_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const { node, attempts } = await attemptsOf(selector, BOOTS)
      printRows(
        attempts.flatMap(({ startedAt, fetches }) => fetches.map((fetch) => ({ ...fetch, bootStartedAt: startedAt }))),
        [
          { title: 'BOOT', value: (fetch) => fetch.bootStartedAt },
          { title: 'WHAT', value: (fetch) => fetch.kind },
          { title: 'COUNT', value: (fetch) => String(fetch.count) },
          { title: 'LAST', value: (fetch) => fetch.lastAt },
          { title: 'PROFILE', value: profileText },
          { title: 'HASH', value: (fetch) => fetch.hash.slice(0, 12) },
          { title: 'TOKEN', value: (fetch) => (fetch.hasToken ? 'sent' : fetch.refusal) },
          { title: 'FROM', value: (fetch) => fetch.address, wide: true },
        ],
        output,
        `${node.name} has not booted over the network yet.`,
      )
    })
