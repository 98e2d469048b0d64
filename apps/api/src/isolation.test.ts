import { createApiToken } from '@muster/core/access'
import { createEnrollmentToken } from '@muster/core/agents'
import { createAlertRoute, createAlertSilence, testAlertRoute } from '@muster/core/alerts'
import { testConnections } from '@muster/core/connections'
import { createSecretStore } from '@muster/core/credentials'
import { discoverNodes } from '@muster/core/discoveries'
import { createNodeGroup } from '@muster/core/groups'
import { schema as tables } from '@muster/core/registry'
import { runJob } from '@muster/core/runs'
import { uploadPlaybookBundle } from '@muster/core/templates'
import { type TenantFixture, zip } from '@muster/core/testing'
import { setVars } from '@muster/core/variables'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { globalId, type TypeName } from './graphql/shared/ids.ts'
import { schema } from './schema.ts'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let stranger: TenantFixture
/** Global IDs of objects of one tenant. `stranger`, the owner of another tenant, tries to access them. */
let theirs: Record<TypeName, string>
let names: { node: string; group: string; credential: string }

beforeAll(async () => {
  t = await testApi()
  const fixture = await t.given.tenant()
  stranger = await t.given.tenant()
  const credential = await t.given.credential(fixture.admin, 'SSH_KEY')
  const store = await createSecretStore(fixture.admin, {
    name: 'theirs',
    address: 'https://vault.test',
    auth: 'TOKEN',
    secret: 't',
  })
  const [node] = await t.given.fleet(fixture.operator, {
    nodes: 1,
    accelerators: 1,
    prefix: 'secret',
    with: { credentialId: credential.id },
  })
  const [test] = await testConnections(fixture.operator, { nodeIds: [node!.id] })
  const [discovery] = await discoverNodes(fixture.operator, { nodeIds: [node!.id] })
  const group = await createNodeGroup(fixture.operator, { name: 'their_group' })
  const run = await runJob(fixture.operator, { template: 'connectivity_check', nodeIds: [node!.id] })
  const bundle = await uploadPlaybookBundle(fixture.admin, { name: 'theirs.zip', content: zip([{ path: 'site.yml' }]) })
  const { apiToken } = await createApiToken(fixture.owner, { name: 'theirs', role: 'viewer' })
  const accelerator = await t.runtime.db.query.accelerators.findFirst({ where: { nodeId: node!.id } })
  const route = await createAlertRoute(fixture.admin, { name: 'theirs', kind: 'slack', url: 'https://hooks.test/' })
  const ids = {
    ComputeNode: node!,
    Accelerator: accelerator!,
    Credential: credential,
    SecretStore: store,
    Discovery: discovery!,
    ConnectionTest: test!,
    NodeGroup: group,
    VariableScope: await setVars(fixture.operator, { nodeId: node!.id, text: 'theirs: 1', basedOn: 0 }),
    JobTemplate: { id: run.templateId },
    PlaybookBundle: bundle,
    JobRun: run,
    Worker: { id: crypto.randomUUID() },
    JobArtifact: await artifactOf(run),
    ApiToken: apiToken,
    Member: (await t.runtime.db.query.members.findFirst({ where: { tenantId: fixture.tenant.id } }))!,
    User: { id: fixture.owner.actor.id! },
    Tenant: { id: fixture.tenant.id },
    AgentKey: await agentOf(node!),
    AgentEnrollmentToken: (await createEnrollmentToken(fixture.operator, {})).enrollmentToken,
    Alert: await alertOf(node!),
    AlertSilence: await createAlertSilence(fixture.operator, {
      matcher: {},
      reason: 'theirs',
      endsAt: new Date(Date.now() + 9e6),
    }),
    AlertRoute: route,
    AlertDelivery: await testAlertRoute(fixture.admin, { id: route.id }),
  }
  theirs = Object.fromEntries(
    Object.entries(ids).map(([type, { id }]) => [type, globalId(type as TypeName, id)]),
  ) as typeof theirs
  names = { node: node!.name, group: group.name, credential: credential.name }
  await t.tokenOf(stranger.owner)
})
afterAll(() => t?.close())

async function artifactOf({ id, tenantId }: { id: string; tenantId: string }) {
  const facts = { kind: 'log' as const, path: 'log.txt', size: 1, sha256: '', store: 'local' as const, key: 'a' }
  const [row] = await t.runtime.db
    .insert(tables.jobArtifacts)
    .values({ ...facts, tenantId, jobRunId: id })
    .returning()
  return row!
}

async function agentOf({ id: nodeId, tenantId }: { id: string; tenantId: string }) {
  const { db } = t.runtime
  await db.insert(tables.agents).values({ nodeId, tenantId, agentId: 'their-agent', cluster: 'theirs' })
  const values = { tenantId, nodeId, publicKey: 'theirs', status: 'ALLOWED' as const, createdByName: 'them' }
  return (await db.insert(tables.agentKeys).values(values).returning())[0]!
}

async function alertOf({ id: nodeId, tenantId }: { id: string; tenantId: string }) {
  const values = { tenantId, nodeId, kind: 'stale' as const, severity: 'warning' as const, key: `node:${nodeId}` }
  return (await t.runtime.db.insert(tables.alerts).values(values).returning())[0]!
}

const NOTHING = { edges: [] }
const notFound = { __typename: 'NotFoundError' }
const ids = [
  'ComputeNode',
  'Accelerator',
  'Credential',
  'SecretStore',
  'Discovery',
  'ConnectionTest',
  'NodeGroup',
  'VariableScope',
  'JobTemplate',
  'PlaybookBundle',
  'JobRun',
  'JobArtifact',
  'ApiToken',
  'Member',
  'User',
  'Tenant',
  'AgentKey',
  'AgentEnrollmentToken',
  'Alert',
  'AlertSilence',
  'AlertRoute',
  'AlertDelivery',
] as const
type Case = { query: () => string; answer?: unknown; code?: string }

/** Expected response to the stranger for each root field that is not public. */
const CASES: Record<string, Case> = {
  'Query.node': {
    query: () => `{ ${ids.map((type) => `${type}: node(id: "${theirs[type]}") { id }`).join(' ')} }`,
    answer: Object.fromEntries(ids.map((type) => [type, null])),
  },
  'Query.computeNode': { query: () => `{ it: computeNode(name: "${names.node}") { id } }`, answer: { it: null } },
  'Query.nodes': {
    query: () =>
      '{ it: nodes { edges { node { id } } } again: nodes(filter: { text: "secret" }) { totalCount edges { node { id } } } }',
    answer: { it: NOTHING, again: { totalCount: 0, edges: [] } },
  },
  'Query.nodeFacets': {
    query: () => '{ it: nodeFacets { statuses { value } models { value } groups { value } } }',
    answer: { it: { statuses: [], models: [], groups: [] } },
  },
  'Query.accelerators': {
    query: () => `{ it: accelerators(filter: { nodeId: "${theirs.ComputeNode}" }) { totalCount edges { node { id } } } }`,
    answer: { it: { totalCount: 0, edges: [] } },
  },
  'Query.nodeGroup': { query: () => `{ it: nodeGroup(name: "${names.group}") { id } }`, answer: { it: null } },
  'Query.nodeGroups': { query: () => '{ it: nodeGroups { edges { node { id } } } }', answer: { it: NOTHING } },
  'Query.globalVars': { query: () => '{ it: globalVars { id } }', answer: { it: null } },
  'Query.varSettings': { query: () => '{ it: varSettings { merge } }', answer: { it: { merge: 'REPLACE' } } },
  'Query.compareVars': {
    query: () => `{ compareVars(leftId: "${theirs.ComputeNode}", rightId: "${theirs.ComputeNode}") { name } }`,
    code: 'NOT_FOUND',
  },
  'Query.varsImpact': {
    query: () => `{ it: varsImpact(input: { nodeId: "${theirs.ComputeNode}", text: "a: 1" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Query.credentials': { query: () => '{ it: credentials { edges { node { id } } } }', answer: { it: NOTHING } },
  'Query.jobTemplates': { query: () => '{ it: jobTemplates { totalCount } }', answer: { it: { totalCount: 9 } } },
  'Query.playbookBundles': { query: () => '{ it: playbookBundles { edges { node { id } } } }', answer: { it: NOTHING } },
  'Query.jobTemplate': {
    query: () => '{ it: jobTemplate(name: "connectivity_check") { runs: name } }',
    answer: { it: { runs: 'connectivity_check' } },
  },
  'Query.jobRun': { query: () => '{ it: jobRun(number: 1) { id } }', answer: { it: null } },
  'Query.jobRuns': {
    query: () => `{ it: jobRuns(filter: { nodeId: "${theirs.ComputeNode}" }) { totalCount edges { node { id } } } }`,
    answer: { it: { totalCount: 0, edges: [] } },
  },
  // The stranger's own token.
  'Query.apiTokens': {
    query: () => '{ it: apiTokens { edges { node { name } } } }',
    answer: { it: { edges: [{ node: { name: 'test owner' } }] } },
  },
  'Query.members': {
    query: () => '{ it: members(first: 1) { totalCount edges { node { role } } } }',
    answer: { it: { totalCount: 4, edges: [{ node: { role: 'OWNER' } }] } },
  },
  'Query.discoveryDiff': {
    query: () => `{ discoveryDiff(fromId: "${theirs.Discovery}", toId: "${theirs.Discovery}") { path } }`,
    code: 'NOT_FOUND',
  },
  'Query.checkNodeImport': {
    query: () =>
      `{ it: checkNodeImport(input: { format: CSV, text: "name,host,credential\\n${names.node},10.0.0.1,${names.credential}" }) { __typename ... on NodeImportReport { rows { state node { id } } } } }`,
    // The names of the node and the credential are unknown in this tenant.
    answer: { it: { __typename: 'NodeImportReport', rows: [{ state: 'INVALID', node: null }] } },
  },
  'Query.labOffer': { query: () => '{ it: labOffer { areCredentialsReady } }', answer: { it: null } },
  'Mutation.setPassword': {
    query: () => 'mutation { it: setPassword(input: { password: "long enough for all" }) { __typename } }',
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Mutation.createApiToken': {
    query: () =>
      'mutation { it: createApiToken(input: { name: "x", role: VIEWER }) { __typename ... on CreateApiTokenPayload { apiToken { role } } } }',
    answer: { it: { __typename: 'CreateApiTokenPayload', apiToken: { role: 'VIEWER' } } },
  },
  'Mutation.revokeApiToken': {
    query: () => `mutation { it: revokeApiToken(input: { id: "${theirs.ApiToken}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.createCredential': {
    query: () =>
      `mutation { it: createCredential(input: { name: "b", kind: BASTION, host: "h", username: "u", password: "p", viaId: "${theirs.Credential}" }) { __typename } }`,
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Mutation.updateCredential': {
    query: () => `mutation { it: updateCredential(input: { id: "${theirs.Credential}", name: "mine" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.testCredential': {
    query: () =>
      `mutation { it: testCredential(input: { id: "${theirs.Credential}", nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  // The encryption keys are shared; the secrets encrypted with them are not.
  'Query.credentialKey': {
    query: () => '{ it: credentialKey { totalCount pendingCount failures { name } } }',
    answer: { it: { totalCount: 0, pendingCount: 0, failures: [] } },
  },
  'Mutation.rotateCredentialKey': {
    query: () =>
      'mutation { it: rotateCredentialKey { __typename ... on RotateCredentialKeyPayload { credentialKey { totalCount pendingCount } } } }',
    answer: { it: { __typename: 'RotateCredentialKeyPayload', credentialKey: { totalCount: 0, pendingCount: 0 } } },
  },
  'Query.secretStores': {
    query: () => '{ it: secretStores { totalCount edges { node { id } } } }',
    answer: { it: { totalCount: 0, edges: [] } },
  },
  'Mutation.createSecretStore': {
    query: () =>
      'mutation { it: createSecretStore(input: { name: "theirs", address: "https://vault.test", auth: TOKEN, secret: "t" }) { __typename } }',
    answer: { it: { __typename: 'CreateSecretStorePayload' } },
  },
  'Mutation.updateSecretStore': {
    query: () => `mutation { it: updateSecretStore(input: { id: "${theirs.SecretStore}", mount: "mine" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.deleteSecretStore': {
    query: () => `mutation { it: deleteSecretStore(input: { id: "${theirs.SecretStore}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.deleteCredential': {
    query: () => `mutation { it: deleteCredential(input: { id: "${theirs.Credential}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.addNode': {
    query: () => `mutation { it: addNode(input: { name: "n", host: "h", credentialId: "${theirs.Credential}" }) { __typename } }`,
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Mutation.updateNode': {
    query: () => `mutation { it: updateNode(input: { id: "${theirs.ComputeNode}", notes: "mine" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.importNodes': {
    query: () =>
      `mutation { it: importNodes(input: { format: LIST, text: "a", defaults: { credentialId: "${theirs.Credential}" } }) { __typename } }`,
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Mutation.approveHostKeys': {
    query: () =>
      `mutation { it: approveHostKeys(input: { approvals: [{ id: "${theirs.ComputeNode}", fingerprint: "SHA256:${'A'.repeat(43)}" }] }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.testConnections': {
    query: () => `mutation { it: testConnections(input: { nodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.discoverNodes': {
    query: () =>
      `mutation { it: discoverNodes(input: { nodeIds: ["${theirs.ComputeNode}"] }) { __typename } all: discoverNodes(input: {}) { __typename ... on DiscoverNodesPayload { discoveries { id } } } }`,
    answer: { it: notFound, all: { __typename: 'DiscoverNodesPayload', discoveries: [] } },
  },
  'Mutation.setNodeMaintenance': {
    query: () => `mutation { it: setNodeMaintenance(input: { id: "${theirs.ComputeNode}", enabled: true }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.decommissionNode': {
    query: () => `mutation { it: decommissionNode(input: { id: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.recommissionNode': {
    query: () => `mutation { it: recommissionNode(input: { id: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.purgeNode': {
    query: () => `mutation { it: purgeNode(input: { id: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  // Names are unique per tenant.
  'Mutation.createNodeGroup': {
    query: () => `mutation { it: createNodeGroup(input: { name: "${names.group}" }) { __typename } }`,
    answer: { it: { __typename: 'CreateNodeGroupPayload' } },
  },
  'Mutation.updateNodeGroup': {
    query: () => `mutation { it: updateNodeGroup(input: { id: "${theirs.NodeGroup}", priority: 1 }) { __typename } }`,
    answer: { it: { __typename: 'NotFoundError' } },
  },
  'Mutation.deleteNodeGroup': {
    query: () => `mutation { it: deleteNodeGroup(input: { id: "${theirs.NodeGroup}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.setNodeGroupMembers': {
    query: () =>
      `mutation { it: setNodeGroupMembers(input: { id: "${theirs.NodeGroup}", addNodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.setVars': {
    query: () =>
      `mutation { it: setVars(input: { nodeId: "${theirs.ComputeNode}", text: "mine: 1", basedOn: 1 }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.restoreVars': {
    query: () => `mutation { it: restoreVars(input: { nodeId: "${theirs.ComputeNode}", version: 1 }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.setSecretVar': {
    query: () =>
      `mutation { it: setSecretVar(input: { groupId: "${theirs.NodeGroup}", name: "mine", value: "mine" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.unsetSecretVar': {
    query: () => `mutation { it: unsetSecretVar(input: { nodeId: "${theirs.ComputeNode}", name: "theirs" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.setVarMerge': {
    query: () =>
      'mutation { it: setVarMerge(input: { merge: REPLACE }) { __typename ... on SetVarMergePayload { varSettings { merge } } } }',
    answer: { it: { __typename: 'SetVarMergePayload', varSettings: { merge: 'REPLACE' } } },
  },
  'Query.previewRun': {
    query: () =>
      `{ it: previewRun(input: { template: "connectivity_check", nodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.createJobTemplate': {
    query: () =>
      `mutation { it: createJobTemplate(input: { name: "stolen", settings: { source: BUNDLE, bundleId: "${theirs.PlaybookBundle}", playbookPath: "site.yml" } }) { __typename } }`,
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Mutation.updateJobTemplate': {
    query: () =>
      `mutation { it: updateJobTemplate(input: { id: "${theirs.JobTemplate}", settings: { forks: 1 } }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.archiveJobTemplate': {
    query: () => `mutation { it: archiveJobTemplate(input: { id: "${theirs.JobTemplate}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.restoreJobTemplate': {
    query: () => `mutation { it: restoreJobTemplate(input: { id: "${theirs.JobTemplate}", version: 1 }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.deletePlaybookBundle': {
    query: () => `mutation { it: deletePlaybookBundle(input: { id: "${theirs.PlaybookBundle}" }) { __typename } }`,
    answer: { it: notFound },
  },
  // The same content creates a separate bundle.
  'Mutation.uploadPlaybookBundle': {
    query: () =>
      `mutation { it: uploadPlaybookBundle(input: { name: "mine.zip", content: "${zip([{ path: 'site.yml' }]).toString('base64')}" }) { __typename ... on UploadPlaybookBundlePayload { bundle { name } } } }`,
    answer: { it: { __typename: 'UploadPlaybookBundlePayload', bundle: { name: 'mine.zip' } } },
  },
  'Mutation.runJob': {
    query: () =>
      `mutation { it: runJob(input: { template: "connectivity_check", nodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.retryJobRun': {
    query: () => `mutation { it: retryJobRun(input: { id: "${theirs.JobRun}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.releaseNodeLocks': {
    query: () => `mutation { it: releaseNodeLocks(input: { nodeIds: ["${theirs.ComputeNode}"], reason: "x" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Query.failureSignatures': {
    query: () =>
      `{ it: failureSignatures(filter: { runId: "${theirs.JobRun}" }) { totalCount edges { node { signature } } } all: failureSignatures { edges { node { signature } } } }`,
    answer: { it: { totalCount: 0, edges: [] }, all: NOTHING },
  },
  'Query.queue': {
    query: () => '{ it: queue { isPaused pendingCount runningCount } }',
    answer: { it: { isPaused: false, pendingCount: 0, runningCount: 0 } },
  },
  'Mutation.pauseQueue': {
    query: () =>
      'mutation { it: pauseQueue(input: { reason: "mine" }) { __typename ... on PauseQueuePayload { queue { pendingCount } } } }',
    answer: { it: { __typename: 'PauseQueuePayload', queue: { pendingCount: 0 } } },
  },
  'Mutation.resumeQueue': {
    query: () => 'mutation { it: resumeQueue { __typename } }',
    answer: { it: { __typename: 'ResumeQueuePayload' } },
  },
  'Mutation.setMaxConcurrentRuns': {
    query: () =>
      'mutation { it: setMaxConcurrentRuns(input: { maxConcurrentRuns: 3 }) { __typename ... on SetMaxConcurrentRunsPayload { queue { maxConcurrentRuns } } } }',
    answer: { it: { __typename: 'SetMaxConcurrentRunsPayload', queue: { maxConcurrentRuns: 3 } } },
  },
  // Workers serve all tenants.
  'Query.workers': { query: () => '{ it: workers { edges { node { id } } } }', answer: { it: NOTHING } },
  'Mutation.drainWorker': {
    query: () => `mutation { it: drainWorker(input: { id: "${theirs.Worker}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.undrainWorker': {
    query: () => `mutation { it: undrainWorker(input: { id: "${theirs.Worker}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Query.retention': { query: () => '{ it: retention { logDays } }', answer: { it: { logDays: null } } },
  'Mutation.setRetention': {
    query: () =>
      'mutation { it: setRetention(input: { logDays: 7 }) { __typename ... on SetRetentionPayload { retention { logDays runDays } } } }',
    answer: { it: { __typename: 'SetRetentionPayload', retention: { logDays: 7, runDays: null } } },
  },
  'Mutation.cancelJobRun': {
    query: () => `mutation { it: cancelJobRun(input: { id: "${theirs.JobRun}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Query.agentFleet': {
    query: () => '{ it: agentFleet { suppressedCount counts { count } clusters { nodes { name } } } }',
    answer: { it: { suppressedCount: 0, counts: [], clusters: [] } },
  },
  'Query.alertUpdateCursor': {
    query: () => '{ it: alertUpdateCursor }',
    answer: { it: expect.any(String) },
  },
  'Query.agentKeys': {
    query: () => '{ it: agentKeys { totalCount edges { node { id } } } }',
    answer: { it: { totalCount: 0, edges: [] } },
  },
  'Query.agentSettings': {
    query: () => '{ it: agentSettings { staleAfterSeconds } }',
    answer: { it: { staleAfterSeconds: 120 } },
  },
  'Mutation.updateAgentSettings': {
    query: () =>
      'mutation { it: updateAgentSettings(input: { staleAfterSeconds: 90 }) { __typename ... on UpdateAgentSettingsPayload { agentSettings { staleAfterSeconds offlineAfterSeconds } } } }',
    answer: {
      it: { __typename: 'UpdateAgentSettingsPayload', agentSettings: { staleAfterSeconds: 90, offlineAfterSeconds: 300 } },
    },
  },
  'Mutation.createAgentEnrollmentToken': {
    query: () => `mutation { it: createAgentEnrollmentToken(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Query.agentEnrollmentTokens': {
    query: () => '{ it: agentEnrollmentTokens(includeEnded: true) { totalCount edges { node { id } } } }',
    answer: { it: { totalCount: 0, edges: [] } },
  },
  'Mutation.revokeAgentEnrollmentToken': {
    query: () => `mutation { it: revokeAgentEnrollmentToken(input: { id: "${theirs.AgentEnrollmentToken}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.allowAgentKey': {
    query: () =>
      `mutation { it: allowAgentKey(input: { publicKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: { __typename: 'InvalidInputError' } },
  },
  'Mutation.revokeAgentKey': {
    query: () => `mutation { it: revokeAgentKey(input: { id: "${theirs.AgentKey}", reason: "x" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.approveAgentChange': {
    query: () =>
      `mutation { it: approveAgentChange(input: { nodeId: "${theirs.ComputeNode}", keyId: "${theirs.AgentKey}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.drainAgent': {
    query: () => `mutation { it: drainAgent(input: { nodeId: "${theirs.ComputeNode}", reason: "x" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.resumeAgent': {
    query: () => `mutation { it: resumeAgent(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.deregisterAgent': {
    query: () => `mutation { it: deregisterAgent(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.resetAgentSequence': {
    query: () => `mutation { it: resetAgentSequence(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Query.alerts': {
    query: () =>
      `{ it: alerts { totalCount edges { node { id } } } again: alerts(filter: { nodeId: "${theirs.ComputeNode}" }) { totalCount } }`,
    answer: { it: { totalCount: 0, edges: [] }, again: { totalCount: 0 } },
  },
  'Mutation.acknowledgeAlerts': {
    query: () => `mutation { it: acknowledgeAlerts(input: { ids: ["${theirs.Alert}"], note: "mine" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.resolveAlertManually': {
    query: () => `mutation { it: resolveAlertManually(input: { id: "${theirs.Alert}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Query.alertSilences': {
    query: () => '{ it: alertSilences(includeEnded: true) { totalCount edges { node { id } } } }',
    answer: { it: { totalCount: 0, edges: [] } },
  },
  'Query.alertRoutes': {
    query: () => '{ it: alertRoutes { totalCount edges { node { id } } } }',
    answer: { it: { totalCount: 0, edges: [] } },
  },
  // Names are unique per tenant, so the stranger creates an object of their own.
  'Mutation.createAlertSilence': {
    query: () => `mutation {
      it: createAlertSilence(input: { matcher: { clusters: ["theirs"] }, reason: "x", endsAt: "${new Date(Date.now() + 9e6).toISOString()}" }) { __typename }
    }`,
    answer: { it: { __typename: 'CreateAlertSilencePayload' } },
  },
  'Mutation.endAlertSilence': {
    query: () => `mutation { it: endAlertSilence(input: { id: "${theirs.AlertSilence}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.createAlertRoute': {
    query: () =>
      'mutation { it: createAlertRoute(input: { name: "theirs", kind: SLACK, url: "https://x.test/" }) { __typename } }',
    answer: { it: { __typename: 'CreateAlertRoutePayload' } },
  },
  'Mutation.updateAlertRoute': {
    query: () => `mutation { it: updateAlertRoute(input: { id: "${theirs.AlertRoute}", name: "mine" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.deleteAlertRoute': {
    query: () => `mutation { it: deleteAlertRoute(input: { id: "${theirs.AlertRoute}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Mutation.testAlertRoute': {
    query: () => `mutation { it: testAlertRoute(input: { id: "${theirs.AlertRoute}" }) { __typename } }`,
    answer: { it: notFound },
  },
  'Subscription.alertUpdated': { query: () => `subscription { alertUpdated(id: "${theirs.Alert}") { cursor } }` },
  'Subscription.heartbeats': { query: () => `subscription { heartbeats(nodeId: "${theirs.ComputeNode}") { name } }` },
  'Subscription.jobRunEvents': {
    query: () => `subscription { jobRunEvents(id: "${theirs.JobRun}") { lastSeq } }`,
    code: 'NOT_FOUND',
  },
  'Subscription.jobRunUpdated': { query: () => `subscription { jobRunUpdated(id: "${theirs.JobRun}") { id } }` },
  'Subscription.nodeUpdated': { query: () => `subscription { nodeUpdated(id: "${theirs.ComputeNode}") { id } }` },
  'Subscription.connectionTestUpdated': {
    query: () => `subscription { connectionTestUpdated(ids: ["${theirs.ConnectionTest}"]) { id } }`,
  },
  'Subscription.discoveryUpdated': { query: () => `subscription { discoveryUpdated(ids: ["${theirs.Discovery}"]) { id } }` },
}

test('has a case for every root field', () => {
  const open = new Set(['viewer', 'signIn', 'signInWithLink', 'signOut'])
  const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!]
  const fields = roots.flatMap((root) =>
    Object.keys(root.getFields())
      .filter((name) => !open.has(name))
      .map((name) => `${root.name}.${name}`),
  )
  expect(Object.keys(CASES).sort()).toEqual(fields.sort())
})

test.each(Object.keys(CASES).filter((name) => !name.startsWith('Subscription')))(
  '%s exposes nothing to another tenant',
  async (name) => {
    const { query, answer, code } = CASES[name]!
    const { data, errors } = await t.send(stranger.owner, query())
    if (code) expect(errors?.[0]?.extensions.code).toBe(code)
    else {
      expect(errors).toBeUndefined()
      expect(data).toEqual(answer)
    }
  },
)

test.each(Object.keys(CASES).filter((name) => name.startsWith('Subscription')))(
  '%s streams nothing to another tenant',
  async (name) => {
    const { query, code } = CASES[name]!
    const response = await t.api.yoga.fetch('https://muster.test/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await t.tokenOf(stranger.owner)}`,
      },
      body: JSON.stringify({ query: query() }),
    })
    const text = await response.text()
    const data = [...text.matchAll(/^data: (\{.+\})$/gm)].map(
      ([, json]) => JSON.parse(json!) as { errors?: { extensions: { code: string } }[] },
    )
    if (code) expect(data[0]!.errors![0]!.extensions.code).toBe(code)
    else expect(data).toEqual([])
  },
)

test('rejects every operation without authentication', async () => {
  for (const [name, { query }] of Object.entries(CASES)) {
    if (name.startsWith('Subscription')) continue
    const { data, errors } = await t.send<Record<string, { __typename?: string } | null> | never>(null, query())
    const rejected =
      errors?.every(({ extensions }) => extensions.code === 'UNAUTHENTICATED') ??
      Object.values(data).every((each) => each?.__typename === 'UnauthenticatedError')
    expect(rejected, name).toBe(true)
  }
})
