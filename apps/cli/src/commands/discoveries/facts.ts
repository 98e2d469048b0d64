import { Option } from 'commander'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printObject, write } from '../../output.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

export const nodeFacts = () =>
  new Command('facts')
    .description('show the host facts of the last successful discovery of a node')
    .argument('<selector>', ONE_NODE_HELP)
    .option('--raw', 'raw output of the discovery probe')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']).default('yaml'))
    .action(async (selector: string, options: { raw?: true; output: 'json' | 'yaml' }) => {
      const { id, name } = await selectNode(selector)
      const { node } = await request(
        graphql(`query NodeFacts($id: ID!, $raw: Boolean!) {
          node(id: $id) { ... on ComputeNode { facts @skip(if: $raw) latestDiscovery { status error evidence @include(if: $raw) } } }
        }`),
        { id, raw: options.raw ?? false },
      )
      const found = node && 'latestDiscovery' in node ? node : null
      const latest = found?.latestDiscovery
      if (!latest) throw new CliError(`${name} was not discovered yet. Run \`muster node discover ${name}\`.`, EXIT.rejected)
      const facts = options.raw ? latest.evidence : found?.facts
      if (facts === null || facts === undefined)
        throw new CliError(
          `The last discovery of ${name} (${latest.status}) has no facts. ${latest.error ?? 'It may still be running.'}`,
          EXIT.rejected,
        )
      if (options.raw) await write(String(facts))
      else printObject(facts, { output: options.output, headers: true })
    })
