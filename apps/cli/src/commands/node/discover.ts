import { Command } from 'commander'
import { print } from 'graphql'
import { request, subscriptions } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'

const UPDATES = graphql(`subscription NodeDiscoverUpdates($ids: [ID!]!) {
  discoveryUpdated(ids: $ids) { id status error acceleratorCount durationMs warnings finishedAt node { name } tools { tool state reason } }
}`)

export const nodeDiscover = () =>
  new Command('discover')
    .description('look at nodes’ hardware afresh')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .action(async (hostlist: string) => {
      const nodes = await nodeIds(hostlist)
      const { discoverNodes } = await request(
        graphql(`mutation NodeDiscover($ids: [ID!]!) {
          discoverNodes(nodeIds: $ids) { __typename ... on StartedDiscoveries { discoveries { id } } ... on Error { code message } }
        }`),
        { ids: nodes.map((n) => n.id) },
      )
      const ids = orThrow(discoverNodes).discoveries.map((d) => d.id)
      const done = new Set<string>()
      const client = subscriptions()
      try {
        for await (const result of client.iterate<ResultOf<typeof UPDATES>>({ query: print(UPDATES), variables: { ids } })) {
          if (result.errors) throw new CliError(result.errors.map((e) => e.message).join('\n'))
          const found = result.data?.discoveryUpdated
          if (!found?.finishedAt || done.has(found.id)) continue
          done.add(found.id)
          if (found.status === 'FAILED') process.exitCode = EXIT.failed
          const broken = found.tools
            .filter((t) => t.state !== 'OK' && t.state !== 'ABSENT')
            .map((t) => `${t.tool} ${t.state}${t.reason ? `: ${t.reason}` : ''}`)
          process.stdout.write(
            `${[`${found.node.name}: ${found.error ?? `${found.acceleratorCount} accelerators in ${found.durationMs} ms`}`, ...broken, ...found.warnings].join('\n  ')}\n`,
          )
        }
      } finally {
        await client.dispose()
      }
    })
