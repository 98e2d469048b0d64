import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { findAgent } from './find-agent.ts'

export const agentHistory = () =>
  new Command('history')
    .description('list the state changes of an agent, newest first')
    .argument('<selector>', ONE_NODE_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const { id, name } = await findAgent(selector)
      const { node: found } = await request(
        graphql(`query AgentHistory($id: ID!) {
          node(id: $id) { ... on ComputeNode { agent { transitions {
            at from to reason
            evidence { lastHeartbeatAt silentSeconds bootEpoch sequence slurmState rejectionCode rejectionCount runningJobs drainReason isOfflineSuppressed reason seenFrom }
          } } } }
        }`),
        { id },
      )
      printRows(
        found && 'agent' in found ? (found.agent?.transitions ?? []) : [],
        [
          { title: 'AT', value: (each) => each.at },
          { title: 'FROM', value: (each) => each.from },
          { title: 'TO', value: (each) => each.to },
          { title: 'REASON', value: (each) => each.reason },
          { title: 'AGE', value: (each) => ago(each.at), wide: true },
        ],
        output,
        `${name} has no state changes yet.`,
      )
    })
