import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { findAgent } from './find-agent.ts'

export const agentHeartbeats = () =>
  new Command('heartbeats')
    .description('list the heartbeats of the last day in steps of five minutes, oldest first')
    .argument('<selector>', ONE_NODE_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const { id, name } = await findAgent(selector)
      const { node: found } = await request(
        graphql(`query AgentHeartbeats($id: ID!) {
          node(id: $id) { ... on ComputeNode { agent { heartbeatHistory { at heartbeats missed cpuPercent memoryPercent maxSkewMs } } } }
        }`),
        { id },
      )
      const percent = (value: number | null) => (value === null ? null : `${Math.round(value)} %`)
      printRows(
        found && 'agent' in found ? (found.agent?.heartbeatHistory ?? []) : [],
        [
          { title: 'AT', value: (each) => each.at },
          { title: 'HEARTBEATS', value: (each) => each.heartbeats },
          { title: 'MISSED', value: (each) => each.missed },
          { title: 'CPU', value: (each) => percent(each.cpuPercent) },
          { title: 'MEMORY', value: (each) => percent(each.memoryPercent) },
          { title: 'MAX SKEW', value: (each) => each.maxSkewMs && `${(each.maxSkewMs / 1000).toFixed(1)} s` },
        ],
        output,
        `No heartbeats from ${name} in the last day.`,
      )
    })
