import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer } from '../../../options.ts'
import { ONE_NODE_HELP, selectNode } from '../../../selector.ts'

export const agentTokenCreate = () =>
  new Command('create')
    .description('create an enrollment token for one agent; it is printed once')
    .argument('[selector]', `${ONE_NODE_HELP}; only it may register (default: a new node, or any without an agent)`)
    .option('--minutes <n>', 'minutes until it expires, at most 43200 (default: 60)', integer)
    .option('--note <text>', 'purpose of the token')
    .action(async (selector: string | undefined, { minutes, note }: { minutes?: number; note?: string }) => {
      const { createAgentEnrollmentToken } = await request(
        graphql(`mutation AgentToken($nodeId: ID, $expiresInSeconds: Int, $note: String) {
          createAgentEnrollmentToken(input: { nodeId: $nodeId, expiresInSeconds: $expiresInSeconds, note: $note }) {
            __typename ... on CreateAgentEnrollmentTokenPayload { token agentEnrollmentToken { expiresAt } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          nodeId: selector === undefined ? null : (await selectNode(selector)).id,
          expiresInSeconds: minutes === undefined ? null : minutes * 60,
          note: note ?? null,
        },
      )
      const { token, agentEnrollmentToken } = orThrow(createAgentEnrollmentToken)
      process.stdout.write(`${token}\n`)
      process.stderr.write(
        `Valid once, until ${agentEnrollmentToken.expiresAt}. On the node run: muster-agent register --token-file -, with the token on standard input.\n`,
      )
    })
