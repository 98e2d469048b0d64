import { Command } from 'commander'
import { request, subscribe } from '../../client.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'
import { type Format, outputOption, printObject } from '../../output.ts'

const UPDATES = graphql(`subscription NodeDiscoverUpdates($ids: [ID!]!) {
  discoveryUpdated(ids: $ids) { id status error acceleratorCount durationMs warnings finishedAt node { name } tools { tool state reason } }
}`)
type Discovery = ResultOf<typeof UPDATES>['discoveryUpdated']

export const nodeDiscover = () =>
  new Command('discover')
    .description('look at nodes’ hardware afresh')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .addOption(outputOption())
    .action(async (hostlist: string, { output }: { output: Format }) => {
      const nodes = await nodeIds(hostlist)
      const { discoverNodes } = await request(
        graphql(`mutation NodeDiscover($ids: [ID!]!) {
          discoverNodes(nodeIds: $ids) { __typename ... on StartedDiscoveries { discoveries { id } } ... on Error { code message } }
        }`),
        { ids: nodes.map((n) => n.id) },
      )
      const ids = orThrow(discoverNodes).discoveries.map((d) => d.id)
      const done = new Map<string, Discovery>()
      for await (const { discoveryUpdated: discovery } of subscribe(UPDATES, () => ({ ids }))) {
        if (!discovery.finishedAt || done.has(discovery.id)) continue
        done.set(discovery.id, discovery)
        if (output === 'table') process.stdout.write(`${describeDiscovery(discovery)}\n`)
      }
      if (output !== 'table') printObject([...done.values()], output)
      if (done.size < ids.length || [...done.values()].some((d) => d.status !== 'SUCCEEDED')) process.exitCode = EXIT.failed
    })

/** What was found in one line, and below it every tool that did not answer and whatever does not fit together. */
function describeDiscovery(d: Discovery): string {
  const count = `${d.acceleratorCount} ${d.acceleratorCount === 1 ? 'accelerator' : 'accelerators'} in ${d.durationMs} ms`
  const broken = d.tools
    .filter((t) => t.state !== 'OK' && t.state !== 'ABSENT')
    .map((t) => `${t.tool} ${t.state}${t.reason ? `: ${t.reason}` : ''}`)
  return [`${d.node.name}: ${d.error ?? count}`, ...broken, ...d.warnings].join('\n  ')
}
