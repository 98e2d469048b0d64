import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { integer, someOf } from '../../options.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query AgentList($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { name region datacenter agent {
      agentId cluster state stateSince stateReason version fingerprint offeredFingerprint heldAt drainReason
      lastHeartbeat { heardAt skewMs sequence missed health cpuPercent memoryPercent runningJobs }
      trust { check isOk text }
      keys { id status publicKey fingerprint }
    } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Node = ResultOf<typeof LIST>['nodes']['edges'][number]['node']
type Row = Node & { agent: NonNullable<Node['agent']> }
export const AGENT_STATES = ['PENDING', 'ACTIVE', 'STALE', 'DRAINING', 'DRAINED', 'OFFLINE', 'DEREGISTERED'] as const
type Options = {
  output: Format
  state?: (typeof AGENT_STATES)[number][]
  cluster?: string[]
  region?: string[]
  datacenter?: string[]
  changed?: true
  number?: number
}

export const agentList = () =>
  new Command('list')
    .description('agents of nodes, how they are and whether they can be believed')
    .argument('[hostlist]', 'names of nodes such as gpu[01-08],cpu1')
    .option('--state <state...>', AGENT_STATES.join(' '), someOf(...AGENT_STATES))
    .option('--cluster <cluster...>', 'in any of these clusters, as agents call them')
    .option('--region <region...>', 'in any of these regions')
    .option('--datacenter <datacenter...>', 'in any of these data centres')
    .option('--changed', 'whose key or hardware changed and waits for approval')
    .option('-n, --number <n>', 'at most so many', integer)
    .addOption(outputOption())
    .action(async (hostlist: string | undefined, { output, number, changed, state, ...places }: Options) => {
      const filter = {
        ...places,
        // Nodes without an agent are not meant.
        agentState: state ?? [...AGENT_STATES],
        ...(hostlist ? { hostlist } : {}),
        ...(changed ? { hasAgentAlarm: true } : {}),
      }
      const nodes = await rowsOf(async (page) => (await request(LIST, { filter, ...page })).nodes, number)
      printRows(
        nodes.flatMap((node): Row[] => (node.agent ? [{ ...node, agent: node.agent }] : [])),
        [
          { title: 'NODE', value: (n) => n.name },
          { title: 'STATE', value: (n) => (n.agent.heldAt ? `${n.agent.state} (held)` : n.agent.state) },
          { title: 'SINCE', value: (n) => ago(n.agent.stateSince) },
          { title: 'HEARD', value: (n) => ago(n.agent.lastHeartbeat?.heardAt) },
          { title: 'CLUSTER', value: (n) => n.agent.cluster },
          { title: 'TRUST', value: trust },
          { title: 'SEQUENCE', value: (n) => n.agent.lastHeartbeat?.sequence, spare: true },
          { title: 'MISSED', value: (n) => n.agent.lastHeartbeat?.missed, spare: true },
          { title: 'SKEW', value: (n) => skew(n.agent.lastHeartbeat?.skewMs), spare: true },
          { title: 'VERSION', value: (n) => n.agent.version, spare: true },
        ],
        output,
        'No agent fits. `muster agent token` makes a token with which one can register.',
      )
    })

const skew = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : `${(ms / 1000).toFixed(1)} s`)

/** What speaks against it, in the words of the console. */
function trust({ agent }: Row): string {
  const against = agent.trust.filter(({ isOk }) => isOk === false).map(({ check }) => check.toLowerCase())
  return against.join(', ') || 'ok'
}
