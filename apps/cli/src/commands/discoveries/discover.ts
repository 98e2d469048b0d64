import { request, subscribeToObjects } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { count, isTable, plain, printObject } from '../../output.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'

const UPDATES = graphql(`subscription NodeDiscoverUpdates($ids: [ID!]!) {
  discoveryUpdated(ids: $ids) { id status error acceleratorCount durationMs warnings finishedAt node { name } tools { tool state reason } }
}`)
type Discovery = ResultOf<typeof UPDATES>['discoveryUpdated']

export const nodeDiscover = () =>
  new Command('discover')
    .description('discover the hardware of nodes')
    .argument('<selector>', SELECTOR_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const nodes = await selectNodes(selector)
      const { discoverNodes } = await request(
        graphql(`mutation NodeDiscover($ids: [ID!]!) {
          discoverNodes(input: { nodeIds: $ids }) { __typename ... on DiscoverNodesPayload { discoveries { id } } ... on Error { code message } }
        }`),
        { ids: nodes.map((n) => n.id) },
      )
      const ids = orThrow(discoverNodes).discoveries.map((d) => d.id)
      const done = new Map<string, Discovery>()
      for await (const { discoveryUpdated: discovery } of subscribeToObjects(UPDATES, ids)) {
        if (!discovery.finishedAt || done.has(discovery.id)) continue
        done.set(discovery.id, discovery)
        if (isTable(output)) process.stdout.write(plain(`${describeDiscovery(discovery)}\n`, false))
      }
      if (!isTable(output)) printObject([...done.values()], output)
      if (done.size < ids.length || [...done.values()].some((d) => d.status !== 'SUCCEEDED')) process.exitCode = EXIT.failed
    })

/** One line for the result, then failed tools and warnings. */
function describeDiscovery(d: Discovery): string {
  const found = `${count(d.acceleratorCount ?? 0, 'accelerator')} in ${d.durationMs} ms`
  const broken = d.tools
    .filter((t) => t.state !== 'OK' && t.state !== 'ABSENT')
    .map((t) => `${t.tool.toLowerCase().replace('_', '-')} ${t.state}${t.reason ? `: ${t.reason}` : ''}`)
  return [`${d.node.name}: ${d.error ?? found}`, ...broken, ...d.warnings].join('\n  ')
}
