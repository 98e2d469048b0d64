import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { integer, someOf } from '../../options.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { SELECTOR_HELP, selectNodes, selectorFilter } from '../../selector.ts'

const LIST = graphql(`query AgentList($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { name region datacenter agent {
      agentId cluster state stateSince stateReason version fingerprint offeredFingerprint offlineSuppressedAt drainReason
      lastHeartbeat { receivedAt skewMs sequence missed health cpuPercent memoryPercent runningJobs }
      trust { check isOk message }
      keys { id status publicKey fingerprint }
    } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Node = ResultOf<typeof LIST>['nodes']['edges'][number]['node']
type Row = Node & { agent: NonNullable<Node['agent']> }
export const AGENT_STATES = ['PENDING', 'ACTIVE', 'STALE', 'DRAINING', 'DRAINED', 'OFFLINE', 'DEREGISTERED'] as const
type Options = Output & {
  state?: (typeof AGENT_STATES)[number][]
  cluster?: string[]
  region?: string[]
  datacenter?: string[]
  changed?: true
  number?: number
}

export const agentList = () =>
  new Command('list')
    .description('list agents with their state and trust')
    .argument('[selector]', SELECTOR_HELP)
    .option('--state <state...>', AGENT_STATES.join(' '), someOf(...AGENT_STATES))
    .option('--cluster <cluster...>', 'in any of these clusters')
    .option('--region <region...>', 'in any of these regions')
    .option('--datacenter <datacenter...>', 'in any of these data centers')
    .option('--changed', 'with a changed key or hardware that needs approval')
    .option('-n, --number <n>', 'maximum number of rows', integer)
    .withOutput()
    .action(async (selector: string | undefined, { output, headers, number, changed, state, ...places }: Options) => {
      const filter = {
        ...places,
        // Excludes nodes without an agent.
        agentState: state ?? [...AGENT_STATES],
        ...(selector ? selectorFilter(selector) : {}),
        ...(changed ? { hasAgentAlarm: true } : {}),
      }
      const nodes = await fetchAll(async (page) => (await request(LIST, { filter, ...page })).nodes, number)
      if (selector && nodes.length === 0) await selectNodes(selector)
      printRows(
        nodes.flatMap((node): Row[] => (node.agent ? [{ ...node, agent: node.agent }] : [])),
        [
          { title: 'NODE', value: (n) => n.name },
          { title: 'STATE', value: (n) => (n.agent.offlineSuppressedAt ? `${n.agent.state} (suppressed)` : n.agent.state) },
          { title: 'SINCE', value: (n) => ago(n.agent.stateSince) },
          { title: 'LAST SEEN', value: (n) => ago(n.agent.lastHeartbeat?.receivedAt) },
          { title: 'CLUSTER', value: (n) => n.agent.cluster },
          { title: 'TRUST', value: trust },
          { title: 'SEQUENCE', value: (n) => n.agent.lastHeartbeat?.sequence, wide: true },
          { title: 'MISSED', value: (n) => n.agent.lastHeartbeat?.missed, wide: true },
          { title: 'SKEW', value: (n) => skew(n.agent.lastHeartbeat?.skewMs), wide: true },
          { title: 'VERSION', value: (n) => n.agent.version, wide: true },
        ],
        { output, headers },
        'No agents match. `muster agent token` creates an enrollment token.',
      )
    })

const skew = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : `${(ms / 1000).toFixed(1)} s`)

/** Names of the failed trust checks. */
function trust({ agent }: Row): string {
  const failed = agent.trust.filter(({ isOk }) => isOk === false).map(({ check }) => check.toLowerCase())
  return failed.join(', ') || 'ok'
}
