import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { findAgent } from './find-agent.ts'

export const agentApprove = () =>
  new Command('approve')
    .description('approve a changed key or changed hardware of an agent; compare it with `muster-agent status` first')
    .argument('<selector>', ONE_NODE_HELP)
    .argument('[compared...]', 'the compared values: public key, hardware fingerprint, or both')
    .action(async (selector: string, compared: string[]) => {
      const { id, name, agent } = await findAgent(selector)
      const pending = agent.keys.filter((key) => key.status === 'WAITING')
      const offered = [...pending.map((key) => key.publicKey), ...(agent.offeredFingerprint ? [agent.offeredFingerprint] : [])]
      if (offered.length === 0) throw new CliError(`The agent of ${name} has no change to approve.`, EXIT.rejected)
      if (compared.length === 0)
        throw new CliError(`Pending: ${offered.join(' ')}. Specify the values that you compared.`, EXIT.usage)
      const unknown = compared.find((each) => !offered.includes(each))
      if (unknown)
        throw new CliError(`The agent of ${name} does not offer ${unknown}. Pending: ${offered.join(' ')}.`, EXIT.rejected)
      const key = pending.find(({ publicKey }) => compared.includes(publicKey))
      const { approveAgentChange } = await request(
        graphql(`mutation AgentApprove($nodeId: ID!, $keyId: ID, $fingerprint: String) {
          approveAgentChange(input: { nodeId: $nodeId, keyId: $keyId, fingerprint: $fingerprint }) {
            __typename ... on ApproveAgentChangePayload { agent { agentId } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          nodeId: id,
          keyId: key?.id ?? null,
          fingerprint: compared.find((each) => each === agent.offeredFingerprint) ?? null,
        },
      )
      orThrow(approveAgentChange)
      process.stderr.write(`Approved ${compared.join(' and ')} of ${name}.\n`)
    })
