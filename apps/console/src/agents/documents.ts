import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const AgentFleetQuery = graphql(`
  query AgentFleet {
    agentFleet {
      suppressedCount
      clusters { cluster region datacenter nodes { name state cpuPercent memoryPercent } }
    }
  }
`)
type Read = ResultOf<typeof AgentFleetQuery>['agentFleet']['clusters'][number]
export type FleetCluster = Read
export type FleetNode = Read['nodes'][number]
export type AgentState = FleetNode['state']

export const HeartbeatFragment = graphql(`
  fragment HeartbeatUpdate on Heartbeat { nodeId name state stateSince receivedAt sequence skewMs health cpuPercent memoryPercent }
`)
export type HeartbeatUpdate = ResultOf<typeof HeartbeatFragment>

export const Heartbeats = graphql(
  `
  subscription Heartbeats($nodeId: ID) { heartbeats(nodeId: $nodeId) { ...HeartbeatUpdate } }
`,
  [HeartbeatFragment],
)

export const FleetNodeQuery = graphql(`
  query FleetNode($name: String!) { computeNode(name: $name) { id name health { status reason } } }
`)
