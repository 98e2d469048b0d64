import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIdOf } from '../../ids.ts'
import { integer } from '../../options.ts'

export const agentTokenCreate = () =>
  new Command('create')
    .description('make a token with which one agent may register, once; it is printed here and never again')
    .argument('[node]', 'the node that may register with it; left out: any without an agent, or one that is not known yet')
    .option('--minutes <n>', 'until it stops working, at most 43200; left out: 60', integer)
    .option('--note <text>', 'what it is for')
    .action(async (node: string | undefined, { minutes, note }: { minutes?: number; note?: string }) => {
      const { createAgentEnrolmentToken } = await request(
        graphql(`mutation AgentToken($nodeId: ID, $minutes: Int, $note: String) {
          createAgentEnrolmentToken(nodeId: $nodeId, expiresInMinutes: $minutes, note: $note) {
            __typename ... on CreatedAgentEnrolmentToken { token expiresAt } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { nodeId: node ? await nodeIdOf(node) : null, minutes: minutes ?? null, note: note ?? null },
      )
      const made = orThrow(createAgentEnrolmentToken)
      process.stdout.write(`${made.token}\n`)
      process.stderr.write(
        `It works once, until ${made.expiresAt}. On the machine: muster-agent register --token-file -, with the token on standard input.\n`,
      )
    })
