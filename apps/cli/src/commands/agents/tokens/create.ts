import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { nodeId } from '../../../lookup.ts'
import { integer } from '../../../options.ts'

export const agentTokenCreate = () =>
  new Command('create')
    .description('create an enrollment token for one agent; it is printed once')
    .argument('[node]', 'node that may register with it (default: a new node, or any without an agent)')
    .option('--minutes <n>', 'minutes until it expires, at most 43200 (default: 60)', integer)
    .option('--note <text>', 'purpose of the token')
    .action(async (node: string | undefined, { minutes, note }: { minutes?: number; note?: string }) => {
      const { createAgentEnrollmentToken } = await request(
        graphql(`mutation AgentToken($nodeId: ID, $minutes: Int, $note: String) {
          createAgentEnrollmentToken(nodeId: $nodeId, expiresInMinutes: $minutes, note: $note) {
            __typename ... on CreatedAgentEnrollmentToken { token expiresAt } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { nodeId: node ? await nodeId(node) : null, minutes: minutes ?? null, note: note ?? null },
      )
      const created = orThrow(createAgentEnrollmentToken)
      process.stdout.write(`${created.token}\n`)
      process.stderr.write(
        `Valid once, until ${created.expiresAt}. On the node run: muster-agent register --token-file -, with the token on standard input.\n`,
      )
    })
