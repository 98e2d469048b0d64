import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { agentOf } from './agent-of.ts'

export const agentApprove = () =>
  new Command('approve')
    .description('let an agent speak with another key, or from other hardware, after comparing it with `muster-agent status`')
    .argument('<node>')
    .argument('[compared...]', 'what was compared: the public key, the fingerprint of the hardware, or both')
    .action(async (node: string, compared: string[]) => {
      const { id, agent } = await agentOf(node)
      const waiting = agent.keys.filter((key) => key.status === 'WAITING')
      const offered = [...waiting.map((key) => key.publicKey), ...(agent.offeredFingerprint ? [agent.offeredFingerprint] : [])]
      if (offered.length === 0) throw new CliError(`Nothing of the agent of ${node} waits for approval.`, EXIT.refused)
      if (compared.length === 0) throw new CliError(`What waits: ${offered.join(' ')}. Give what you compared.`, EXIT.usage)
      const unknown = compared.find((each) => !offered.includes(each))
      if (unknown) throw new CliError(`${node} does not show ${unknown}. What waits: ${offered.join(' ')}.`, EXIT.refused)
      const key = waiting.find(({ publicKey }) => compared.includes(publicKey))
      const { approveAgentChange } = await request(
        graphql(`mutation AgentApprove($nodeId: ID!, $keyId: ID, $fingerprint: String) {
          approveAgentChange(nodeId: $nodeId, keyId: $keyId, fingerprint: $fingerprint) {
            __typename ... on Agent { agentId } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          nodeId: id,
          keyId: key?.id ?? null,
          fingerprint: compared.find((each) => each === agent.offeredFingerprint) ?? null,
        },
      )
      orThrow(approveAgentChange)
      process.stderr.write(`Approved ${compared.join(' and ')} of ${node}.\n`)
    })
