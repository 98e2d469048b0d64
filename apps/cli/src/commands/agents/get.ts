import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, isTable, printObject, printRows } from '../../output.ts'
import { ONE_NODE_HELP } from '../../selector.ts'
import { findAgent } from './find-agent.ts'

export const agentGet = () =>
  new Command('get')
    .description('show one agent: state, last heartbeat and trust checks')
    .argument('<selector>', ONE_NODE_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const { id } = await findAgent(selector)
      const { node: found } = await request(
        graphql(`query AgentGet($id: ID!) {
          node(id: $id) { ... on ComputeNode { name region datacenter agent {
            agentId cluster state stateSince stateReason version registeredAt seenFrom fingerprint offeredFingerprint drainReason drainError
            lastHeartbeat { receivedAt sequence missed skewMs health cpuPercent memoryPercent runningJobs }
            trust { check isOk message }
            keys { status publicKey fingerprint }
          } } }
        }`),
        { id },
      )
      if (!found || !('agent' in found) || !found.agent) return
      const { agent } = found
      if (!isTable(output)) return printObject(found, output, [['name', found.name]])
      const last = agent.lastHeartbeat
      const percent = (value: number | null | undefined) => (value === null || value === undefined ? null : `${value} %`)
      printObject(found, output, [
        ['node', found.name],
        ['agent ID', agent.agentId],
        ['state', `${agent.state} (${agent.stateReason}), since ${agent.stateSince}`],
        ['cluster', [agent.cluster, found.region, found.datacenter].filter(Boolean).join(', ')],
        ['version', agent.version],
        ['registered', `${ago(agent.registeredAt)}${agent.seenFrom ? ` from ${agent.seenFrom}` : ''}`],
        ['last heartbeat', last ? `${ago(last.receivedAt)}, sequence ${last.sequence}, ${last.missed} missed` : 'never'],
        ['health', last?.health],
        ['CPU', percent(last?.cpuPercent)],
        ['memory', percent(last?.memoryPercent)],
        ['running jobs', last?.runningJobs],
        ['drain reason', agent.drainReason],
        ['drain error', agent.drainError],
      ])
      process.stdout.write('\n')
      printRows(
        agent.trust,
        [
          { title: 'CHECK', value: (each) => each.check },
          { title: 'RESULT', value: (each) => (each.isOk === null ? 'unknown' : each.isOk ? 'ok' : 'FAILED') },
          { title: 'DETAIL', value: (each) => each.message },
        ],
        output,
      )
    })
