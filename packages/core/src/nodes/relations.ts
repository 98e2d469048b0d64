import { defineRelationsPart } from 'drizzle-orm'
import { agentKeys, agents, agentTransitions } from '../agents/tables.ts'
import { alerts } from '../alerts/tables.ts'
import { bootAttempts } from '../boot-service/tables.ts'
import { slurmNodes } from '../clusters/tables.ts'
import { connectionTests } from '../connections/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { discoveries } from '../discoveries/tables.ts'
import { bmcReadings, powerRunItems } from '../power/tables.ts'
import { jobRunHosts, jobRuns } from '../runs/tables.ts'
import { variableScopes } from '../variables/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart(
  {
    ...tables,
    agentKeys,
    agentTransitions,
    agents,
    alerts,
    bmcReadings,
    bootAttempts,
    connectionTests,
    credentials,
    discoveries,
    jobRunHosts,
    jobRuns,
    powerRunItems,
    slurmNodes,
    variableScopes,
  },
  (r) => ({
    accelerators: { node: r.one.computeNodes({ from: r.accelerators.nodeId, to: r.computeNodes.id, optional: false }) },
    nodeInterfaces: {
      node: r.one.computeNodes({ from: r.nodeInterfaces.nodeId, to: r.computeNodes.id, optional: false }),
    },
    nodeBmcs: {
      node: r.one.computeNodes({ from: r.nodeBmcs.nodeId, to: r.computeNodes.id, optional: false }),
      reading: r.one.bmcReadings({ from: r.nodeBmcs.id, to: r.bmcReadings.bmcId }),
      credential: r.one.credentials({ from: r.nodeBmcs.credentialId, to: r.credentials.id, optional: false, alias: 'bmc' }),
    },
    computeNodes: {
      bootAttempts: r.many.bootAttempts({ from: r.computeNodes.id, to: r.bootAttempts.nodeId }),
      powerRunItems: r.many.powerRunItems({ from: r.computeNodes.id, to: r.powerRunItems.nodeId }),
      bmc: r.one.nodeBmcs({ from: r.computeNodes.id, to: r.nodeBmcs.nodeId }),
      accelerators: r.many.accelerators({ from: r.computeNodes.id, to: r.accelerators.nodeId }),
      interfaces: r.many.nodeInterfaces({ from: r.computeNodes.id, to: r.nodeInterfaces.nodeId }),
      alerts: r.many.alerts({ from: r.computeNodes.id, to: r.alerts.nodeId }),
      slurmNodes: r.many.slurmNodes({ from: r.computeNodes.id, to: r.slurmNodes.nodeId }),
      discoveries: r.many.discoveries({ from: r.computeNodes.id, to: r.discoveries.nodeId }),
      connectionTests: r.many.connectionTests({ from: r.computeNodes.id, to: r.connectionTests.nodeId }),
      credential: r.one.credentials({ from: r.computeNodes.credentialId, to: r.credentials.id, alias: 'credential' }),
      becomeCredential: r.one.credentials({ from: r.computeNodes.becomeCredentialId, to: r.credentials.id, alias: 'become' }),
      bastion: r.one.credentials({ from: r.computeNodes.bastionId, to: r.credentials.id, alias: 'bastion' }),
      variables: r.one.variableScopes({ from: r.computeNodes.id, to: r.variableScopes.nodeId }),
      agent: r.one.agents({ from: r.computeNodes.id, to: r.agents.nodeId }),
      agentKeys: r.many.agentKeys({ from: r.computeNodes.id, to: r.agentKeys.nodeId }),
      agentTransitions: r.many.agentTransitions({ from: r.computeNodes.id, to: r.agentTransitions.nodeId }),
      runHosts: r.many.jobRunHosts({ from: r.computeNodes.id, to: r.jobRunHosts.nodeId }),
      runs: r.many.jobRuns({
        from: r.computeNodes.id.through(r.jobRunHosts.nodeId),
        to: r.jobRuns.id.through(r.jobRunHosts.jobRunId),
      }),
    },
  }),
)
