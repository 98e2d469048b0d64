import { setTimeout } from 'node:timers/promises'
import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { SELECTOR_HELP, selectNodes, selectorFilter } from '../../selector.ts'

const STATES = graphql(`query PowerStates($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { id name bmc { address protocol powerState conflicts reading { readAt error requestedAt } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const READ = graphql(`mutation PowerRead($input: ReadBmcsInput!) {
  readBmcs(input: $input) {
    __typename ... on ReadBmcsPayload { nodes { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

/** BMCs of one request. */
const AT_ONCE = 500
const POLL_MS = 500

/** Requests a reading of the BMCs of nodes, and waits until each was read or has failed. */
export async function readNow(selector: string): Promise<void> {
  const ids = (await selectNodes(selector)).map(({ id }) => id)
  for (let i = 0; i < ids.length; i += AT_ONCE)
    orThrow((await request(READ, { input: { nodeIds: ids.slice(i, i + AT_ONCE) } })).readBmcs)
  while ((await fetchStates(selector)).some(({ bmc }) => bmc?.reading?.requestedAt)) await setTimeout(POLL_MS)
}

const fetchStates = (selector: string) =>
  fetchAll(async (page) => (await request(STATES, { filter: selectorFilter(selector), ...page })).nodes)

export const powerStatus = () =>
  new Command('status')
    .description('show the power states of nodes, and when their BMCs reported them')
    .argument('<selector>', SELECTOR_HELP)
    .option('--refresh', 'read the BMCs now')
    .withOutput()
    .action(async (selector: string, { refresh, ...output }: Output & { refresh?: true }) => {
      await selectNodes(selector)
      if (refresh) await readNow(selector)
      const nodes = await fetchStates(selector)
      printRows(
        nodes,
        [
          { title: 'NODE', value: (n) => n.name },
          { title: 'POWER', value: (n) => n.bmc?.powerState ?? 'no BMC' },
          { title: 'READ', value: (n) => ago(n.bmc?.reading?.readAt) },
          { title: 'BMC', value: (n) => n.bmc?.address, wide: true },
          { title: 'PROTOCOL', value: (n) => n.bmc?.protocol, wide: true },
          { title: 'MESSAGE', value: (n) => n.bmc?.reading?.error ?? (n.bmc?.conflicts.join(' ') || null) },
        ],
        output,
        'No nodes.',
      )
    })
