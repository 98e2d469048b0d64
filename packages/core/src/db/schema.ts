/** Every table, for drizzle-kit and for the relational queries. */
export { accounts, apiTokens, auditEntries, members, sessions, tenants, users, verifications } from '../access/tables.ts'
export {
  agentBeatHistory,
  agentBeats,
  agentEnrolmentTokens,
  agentIngest,
  agentKeys,
  agentReports,
  agentSettings,
  agentSilences,
  agents,
  agentTransitions,
} from '../agents/tables.ts'
export { alertDeliveries, alertRoutes, alertSilences, alerts } from '../alerts/tables.ts'
export { credentialKeys, credentials, resealFailures, secretStores } from '../credentials/tables.ts'
export { nodeGroupMembers, nodeGroups } from '../groups/tables.ts'
export {
  jobArtifacts,
  jobRunEvents,
  jobRunHosts,
  jobRuns,
  jobTemplates,
  jobTemplateVersions,
  nodeLocks,
  playbookBundles,
  runSecrets,
} from '../jobs/tables.ts'
export { accelerators, computeNodes, connectionTests, discoveries, discoveryEvidence } from '../nodes/tables.ts'
export { variableScopes, variableSecrets, variableVersions } from '../variables/tables.ts'
export { workers } from '../workers/tables.ts'
