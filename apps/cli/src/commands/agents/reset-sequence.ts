import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'

export const agentResetSequence = () =>
  new Command('reset-sequence')
    .description('accept a restarted sequence from agents that lost their state; earlier heartbeats stay refused')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (selector: string) => {
      for (const { id, name } of await selectNodes(selector)) {
        const { resetAgentSequence } = await request(
          graphql(`mutation AgentResetSequence($nodeId: ID!) {
            resetAgentSequence(input: { nodeId: $nodeId }) { __typename ... on ResetAgentSequencePayload { agent { state } } ... on Error { code message } }
          }`),
          { nodeId: id },
        )
        orThrow(resetAgentSequence)
        process.stderr.write(`Reset the sequence of ${name}.\n`)
      }
    })
