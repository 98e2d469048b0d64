import { Command, Option } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { noNode } from '../../ids.ts'
import { type Format, printObject, write } from '../../output.ts'

export const nodeFacts = () =>
  new Command('facts')
    .description('what the last discovery found on a node')
    .argument('<name>')
    .option('--raw', 'the probe’s raw output, as the node gave it')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['json', 'yaml']).default('yaml'))
    .action(async (name: string, options: { raw?: true; output: Format }) => {
      const { computeNode } = await request(
        graphql(`query NodeFacts($name: String!, $raw: Boolean!) {
          computeNode(name: $name) { facts latestDiscovery { status error result @skip(if: $raw) evidence @include(if: $raw) } }
        }`),
        { name, raw: options.raw ?? false },
      )
      if (!computeNode) throw noNode(name)
      const latest = computeNode.latestDiscovery
      if (!latest) throw new CliError(`${name} has not been looked at yet. Run \`muster node discover ${name}\`.`, EXIT.refused)
      const found = options.raw ? latest.evidence : (latest.result ?? computeNode.facts)
      if (found === null || found === undefined)
        throw new CliError(
          `The last look at ${name} (${latest.status}) found nothing. ${latest.error ?? 'Wait a little.'}`,
          EXIT.refused,
        )
      if (options.raw) await write(String(found))
      else printObject(found, options.output)
    })
