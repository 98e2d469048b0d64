import { defineRelationsPart } from 'drizzle-orm'
import { agentHeartbeats, agentReports } from '../heartbeats/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, agentHeartbeats, agentReports, computeNodes }, (r) => ({
  agentEnrollmentTokens: {
    node: r.one.computeNodes({ from: r.agentEnrollmentTokens.nodeId, to: r.computeNodes.id }),
    usedByNode: r.one.computeNodes({ from: r.agentEnrollmentTokens.usedByNodeId, to: r.computeNodes.id }),
  },
  agentKeys: { node: r.one.computeNodes({ from: r.agentKeys.nodeId, to: r.computeNodes.id }) },
  agentOutages: {},
  agentSettings: {},
  agents: {
    node: r.one.computeNodes({ from: r.agents.nodeId, to: r.computeNodes.id, optional: false }),
    heartbeat: r.one.agentHeartbeats({ from: r.agents.nodeId, to: r.agentHeartbeats.nodeId }),
    report: r.one.agentReports({ from: r.agents.nodeId, to: r.agentReports.nodeId }),
    key: r.one.agentKeys({ from: r.agents.keyId, to: r.agentKeys.id }),
  },
  agentTransitions: {},
}))
