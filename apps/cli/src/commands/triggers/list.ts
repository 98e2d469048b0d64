import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { noTrigger } from './fields.ts'

const LIST = graphql(`query TriggerList($first: Int, $after: String, $filter: TriggerFilter) {
  triggers(first: $first, after: $after, filter: $filter) {
    edges { node {
      id name description url template { name } limit nodesPath variables { name path isRequired } signature maxPerHour isEnabled
      secretCreatedAt owner { name }
      deliveries(first: 1) { edges { node { receivedAt outcome message run { number status } } } }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const HISTORY = graphql(`query TriggerHistory($name: String!, $first: Int, $after: String) {
  trigger(name: $name) {
    deliveries(first: $first, after: $after) {
      edges { node { id receivedAt outcome message repeatCount address run { number status } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

type Last = { outcome: string; run: { number: number; status: string } | null }
const resultText = ({ outcome, run }: Last): string => (run ? `#${run.number} ${run.status}` : outcome)

export const triggerList = () =>
  new Command('list')
    .description('list webhook triggers with their last request')
    .option('--text <text>', 'only those with this text in the name, description or selector')
    .withOutput()
    .action(async ({ text, ...output }: Output & { text?: string }) => {
      const filter = text ? { text } : {}
      printRows(
        await fetchAll(async (page) => (await request(LIST, { ...page, filter })).triggers),
        [
          { title: 'NAME', value: (t) => t.name },
          { title: 'TEMPLATE', value: (t) => t.template.name },
          { title: 'NODES', value: (t) => t.limit },
          { title: 'SIGNATURE', value: (t) => t.signature },
          { title: 'ENABLED', value: (t) => (t.isEnabled ? 'yes' : 'no') },
          { title: 'LAST', value: (t) => t.deliveries.edges.map(({ node }) => resultText(node)).join('') },
          { title: 'OWNER', value: (t) => t.owner.name, wide: true },
          { title: 'URL', value: (t) => t.url, wide: true },
        ],
        output,
        'No triggers. Create one with `muster trigger create`.',
      )
    })

export const triggerHistory = () =>
  new Command('history')
    .description('show what each request started, or why it started nothing')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const rows = await fetchAll(async (page) => {
        const { trigger } = await request(HISTORY, { name, ...page })
        if (!trigger) throw noTrigger(name)
        return trigger.deliveries
      })
      printRows(
        rows,
        [
          { title: 'RECEIVED', value: (d) => d.receivedAt },
          { title: 'RESULT', value: resultText },
          { title: 'REPEATS', value: (d) => d.repeatCount || '' },
          { title: 'ADDRESS', value: (d) => d.address, wide: true },
          { title: 'MESSAGE', value: (d) => d.message },
        ],
        output,
        'It has received no request with a valid signature yet.',
      )
    })
