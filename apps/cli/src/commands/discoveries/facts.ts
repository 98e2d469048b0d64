import { Option } from 'commander'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeNotFound } from '../../lookup.ts'
import { printObject, write } from '../../output.ts'

export const nodeFacts = () =>
  new Command('facts')
    .description('show the host facts of the last successful discovery of a node')
    .argument('<name>')
    .option('--raw', 'raw output of the discovery probe')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', 'yaml']).default('yaml'))
    .action(async (name: string, options: { raw?: true; output: 'json' | 'yaml' }) => {
      const { computeNode } = await request(
        graphql(`query NodeFacts($name: String!, $raw: Boolean!) {
          computeNode(name: $name) { facts @skip(if: $raw) latestDiscovery { status error evidence @include(if: $raw) } }
        }`),
        { name, raw: options.raw ?? false },
      )
      if (!computeNode) throw nodeNotFound(name)
      const latest = computeNode.latestDiscovery
      if (!latest) throw new CliError(`${name} was not discovered yet. Run \`muster node discover ${name}\`.`, EXIT.refused)
      const found = options.raw ? latest.evidence : computeNode.facts
      if (found === null || found === undefined)
        throw new CliError(
          `The last discovery of ${name} (${latest.status}) has no facts. ${latest.error ?? 'It may still be running.'}`,
          EXIT.refused,
        )
      if (options.raw) await write(String(found))
      else printObject(found, { output: options.output, headers: true })
    })
