import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { findAgent } from './find-agent.ts'

export const agentHistory = () =>
  new Command('history')
    .description('show the heartbeats of the last day in steps of five minutes, oldest first')
    .argument('<node>')
    .withOutput()
    .action(async (node: string, output: Output) => {
      const { id } = await findAgent(node)
      const { node: found } = await request(
        graphql(`query AgentHistory($id: ID!) {
          node(id: $id) { ... on ComputeNode { agent { history { at heartbeats missed cpuPercent memoryPercent maxSkewMs } } } }
        }`),
        { id },
      )
      const percent = (value: number | null) => (value === null ? null : `${Math.round(value)} %`)
      printRows(
        found && 'agent' in found ? (found.agent?.history ?? []) : [],
        [
          { title: 'AT', value: (each) => each.at },
          { title: 'HEARTBEATS', value: (each) => each.heartbeats },
          { title: 'MISSED', value: (each) => each.missed },
          { title: 'CPU', value: (each) => percent(each.cpuPercent) },
          { title: 'MEMORY', value: (each) => percent(each.memoryPercent) },
          { title: 'MAX SKEW', value: (each) => each.maxSkewMs && `${(each.maxSkewMs / 1000).toFixed(1)} s` },
        ],
        output,
        `No heartbeats from ${node} in the last day.`,
      )
    })
