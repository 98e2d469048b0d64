import { defineRelations } from 'drizzle-orm'
import * as schema from './schema.ts'

/** How tables hang together; the API's GraphQL types and relational queries select along these. */
export const relations = defineRelations(schema, (r) => ({
  users: { memberships: r.many.members() },
  members: {
    tenant: r.one.tenants({ from: r.members.tenantId, to: r.tenants.id, optional: false }),
    user: r.one.users({ from: r.members.userId, to: r.users.id, optional: false }),
  },
  apiTokens: { createdBy: r.one.users({ from: r.apiTokens.createdById, to: r.users.id }) },
  credentials: {
    via: r.one.credentials({ from: r.credentials.viaId, to: r.credentials.id, alias: 'via' }),
    secretStore: r.one.secretStores({ from: r.credentials.secretStoreId, to: r.secretStores.id }),
    nodes: r.many.computeNodes({ from: r.credentials.id, to: r.computeNodes.credentialId, alias: 'credential' }),
  },
  secretStores: { credentials: r.many.credentials({ from: r.secretStores.id, to: r.credentials.secretStoreId }) },
  computeNodes: {
    accelerators: r.many.accelerators({ from: r.computeNodes.id, to: r.accelerators.nodeId }),
    alerts: r.many.alerts({ from: r.computeNodes.id, to: r.alerts.nodeId }),
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
  alerts: { node: r.one.computeNodes({ from: r.alerts.nodeId, to: r.computeNodes.id }) },
  alertRoutes: { deliveries: r.many.alertDeliveries({ from: r.alertRoutes.id, to: r.alertDeliveries.routeId }) },
  alertDeliveries: { route: r.one.alertRoutes({ from: r.alertDeliveries.routeId, to: r.alertRoutes.id, optional: false }) },
  accelerators: { node: r.one.computeNodes({ from: r.accelerators.nodeId, to: r.computeNodes.id, optional: false }) },
  discoveries: { node: r.one.computeNodes({ from: r.discoveries.nodeId, to: r.computeNodes.id, optional: false }) },
  connectionTests: {
    node: r.one.computeNodes({ from: r.connectionTests.nodeId, to: r.computeNodes.id, optional: false }),
    credential: r.one.credentials({ from: r.connectionTests.credentialId, to: r.credentials.id }),
  },
  agents: {
    node: r.one.computeNodes({ from: r.agents.nodeId, to: r.computeNodes.id, optional: false }),
    beat: r.one.agentBeats({ from: r.agents.nodeId, to: r.agentBeats.nodeId }),
    report: r.one.agentReports({ from: r.agents.nodeId, to: r.agentReports.nodeId }),
    key: r.one.agentKeys({ from: r.agents.keyId, to: r.agentKeys.id }),
  },
  agentKeys: { node: r.one.computeNodes({ from: r.agentKeys.nodeId, to: r.computeNodes.id }) },
  agentEnrolmentTokens: {
    node: r.one.computeNodes({ from: r.agentEnrolmentTokens.nodeId, to: r.computeNodes.id }),
    usedByNode: r.one.computeNodes({ from: r.agentEnrolmentTokens.usedByNodeId, to: r.computeNodes.id }),
  },
  nodeGroups: {
    variables: r.one.variableScopes({ from: r.nodeGroups.id, to: r.variableScopes.groupId }),
    parent: r.one.nodeGroups({ from: r.nodeGroups.parentId, to: r.nodeGroups.id, alias: 'parent' }),
    children: r.many.nodeGroups({ from: r.nodeGroups.id, to: r.nodeGroups.parentId, alias: 'parent' }),
  },
  jobTemplates: {
    runs: r.many.jobRuns({ from: r.jobTemplates.id, to: r.jobRuns.templateId }),
    bundle: r.one.playbookBundles({ from: r.jobTemplates.bundleId, to: r.playbookBundles.id }),
    gitCredential: r.one.credentials({ from: r.jobTemplates.gitCredentialId, to: r.credentials.id }),
    versions: r.many.jobTemplateVersions({ from: r.jobTemplates.id, to: r.jobTemplateVersions.templateId }),
  },
  jobRuns: {
    template: r.one.jobTemplates({ from: r.jobRuns.templateId, to: r.jobTemplates.id, optional: false }),
    bundle: r.one.playbookBundles({ from: r.jobRuns.bundleId, to: r.playbookBundles.id }),
    hosts: r.many.jobRunHosts({ from: r.jobRuns.id, to: r.jobRunHosts.jobRunId }),
    artifacts: r.many.jobArtifacts({ from: r.jobRuns.id, to: r.jobArtifacts.jobRunId }),
    parent: r.one.jobRuns({ from: r.jobRuns.parentRunId, to: r.jobRuns.id, alias: 'parent' }),
    retries: r.many.jobRuns({ from: r.jobRuns.id, to: r.jobRuns.parentRunId, alias: 'parent' }),
  },
  jobRunHosts: {
    run: r.one.jobRuns({ from: r.jobRunHosts.jobRunId, to: r.jobRuns.id, optional: false }),
    node: r.one.computeNodes({ from: r.jobRunHosts.nodeId, to: r.computeNodes.id }),
  },
  jobArtifacts: { run: r.one.jobRuns({ from: r.jobArtifacts.jobRunId, to: r.jobRuns.id, optional: false }) },
  variableScopes: {
    group: r.one.nodeGroups({ from: r.variableScopes.groupId, to: r.nodeGroups.id }),
    node: r.one.computeNodes({ from: r.variableScopes.nodeId, to: r.computeNodes.id }),
    versions: r.many.variableVersions({ from: r.variableScopes.id, to: r.variableVersions.scopeId }),
  },
}))
