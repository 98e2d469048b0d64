import { graphql } from './graphql.ts'

// Every operation that benchmarks and the main job send.

// Sign-in and access

export const SIGN_IN = graphql(`mutation SignIn($input: SignInWithLinkInput!) {
  signInWithLink(input: $input) { __typename ... on SignInWithLinkPayload { sessionToken } ... on Error { code message } }
}`)

export const CREATE_API_TOKEN = graphql(`mutation CreateApiToken($input: CreateApiTokenInput!) {
  createApiToken(input: $input) {
    __typename ... on CreateApiTokenPayload { secret } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const INVITE_MEMBER = graphql(`mutation InviteMember($input: InviteMemberInput!) {
  inviteMember(input: $input) {
    __typename ... on InviteMemberPayload { link } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const ACCEPT_INVITATION = graphql(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    __typename ... on AcceptInvitationPayload { viewer { role } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const SIGN_IN_WITH_PASSWORD = graphql(`mutation SignInWithPassword($input: SignInInput!) {
  signIn(input: $input) {
    __typename ... on SignInPayload { sessionToken } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const START_OIDC_SIGN_IN = graphql(`mutation StartOidcSignIn($input: StartOidcSignInInput!) {
  startOidcSignIn(input: $input) { __typename ... on StartOidcSignInPayload { url } ... on Error { code message } }
}`)

export const FINISH_OIDC_SIGN_IN = graphql(`mutation FinishOidcSignIn($input: FinishOidcSignInInput!) {
  finishOidcSignIn(input: $input) {
    __typename ... on FinishOidcSignInPayload { viewer { name role } } ... on Error { code message }
  }
}`)

export const REFUSED_ENTRIES = graphql(`query RefusedEntries($action: String!) {
  auditEntries(first: 10, filter: { action: [$action], outcome: [DENIED] }) { edges { node { actorName error permission } } }
}`)

export const AUDIT_CHAIN = graphql(`query AuditChain($after: BigInt) {
  auditChain(afterSeq: $after) { isValid hasMore lastSeq checkedCount unsealedCount problems { kind } }
}`)

// Nodes

export const CREATE_CREDENTIAL = graphql(`mutation CreateCredential($input: CreateCredentialInput!) {
  createCredential(input: $input) {
    __typename ... on CreateCredentialPayload { credential { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const ADD_NODE = graphql(`mutation AddNode($input: AddNodeInput!) {
  addNode(input: $input) {
    __typename ... on AddNodePayload { node { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const UPDATE_NODE = graphql(`mutation UpdateNode($input: UpdateNodeInput!) {
  updateNode(input: $input) {
    __typename ... on UpdateNodePayload { node { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const APPLY_MANIFESTS = graphql(`mutation ApplyManifests($input: ApplyManifestsInput!) {
  applyManifests(input: $input) {
    __typename ... on ApplyManifestsPayload { plan { isApplied createCount updateCount unchangedCount issues { path message } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const IMPORT_NODES = graphql(`mutation ImportNodes($input: ImportNodesInput!) {
  importNodes(input: $input) {
    __typename ... on ImportNodesPayload { report { rows { name state issues { message } node { id } } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const APPROVE_HOST_KEYS = graphql(`mutation ApproveHostKeys($input: ApproveHostKeysInput!) {
  approveHostKeys(input: $input) {
    __typename ... on ApproveHostKeysPayload { nodes { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const TEST_CONNECTIONS = graphql(`mutation TestConnections($input: TestConnectionsInput!) {
  testConnections(input: $input) {
    __typename ... on TestConnectionsPayload { connectionTests { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const CONNECTION_TEST_UPDATED = graphql(`subscription ConnectionTestUpdated($ids: [ID!]!) {
  connectionTestUpdated(ids: $ids) {
    id isOk finishedAt error node { id name } stages { stage hop state detail offeredKey { objectId fingerprint } }
  }
}`)

export const DISCOVER_NODES = graphql(`mutation DiscoverNodes($input: DiscoverNodesInput!) {
  discoverNodes(input: $input) {
    __typename ... on DiscoverNodesPayload { discoveries { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const DISCOVERY_UPDATED = graphql(`subscription DiscoveryUpdated($ids: [ID!]!) {
  discoveryUpdated(ids: $ids) { id status error finishedAt acceleratorCount durationMs node { name } }
}`)

export const NODE_STATUSES = graphql(`query NodeStatuses {
  nodes(first: 500) { totalCount edges { node { status } } }
}`)

export const NODE_FACTS = graphql(`query NodeFacts {
  nodes(first: 500) { edges { node { name arch kernel cpu { threads } memoryBytes facts } } }
}`)

export const ACCELERATOR_TYPES = graphql(`query AcceleratorTypes {
  accelerators(first: 500) { edges { node { deviceType health } } }
}`)

export const NODE_PAGE = graphql(`query NodePage($first: Int!) {
  nodes(first: $first) { edges { node {
    id name host status tags os { name } memoryBytes
    accelerators { index deviceType model memoryTotalBytes health }
    groups { name priority }
  } } }
}`)

export const NODE_AGENTS = graphql(`query NodeAgents {
  nodes(first: 100) { edges { node { name status agent { state stateSince } } } }
}`)

// Groups and variables

export const CREATE_NODE_GROUP = graphql(`mutation CreateNodeGroup($input: CreateNodeGroupInput!) {
  createNodeGroup(input: $input) {
    __typename ... on CreateNodeGroupPayload { nodeGroup { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const SET_NODE_GROUP_MEMBERS = graphql(`mutation SetNodeGroupMembers($input: SetNodeGroupMembersInput!) {
  setNodeGroupMembers(input: $input) {
    __typename ... on SetNodeGroupMembersPayload { nodeGroup { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const SET_VARS = graphql(`mutation SetVars($input: SetVarsInput!) {
  setVars(input: $input) {
    __typename ... on SetVarsPayload { variableScope { version } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const SET_SECRET_VAR = graphql(`mutation SetSecretVar($input: SetSecretVarInput!) {
  setSecretVar(input: $input) {
    __typename ... on SetSecretVarPayload { variableScope { version } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const EFFECTIVE_VARS = graphql(`query EffectiveVars($id: ID!, $names: [String!]) {
  node(id: $id) { __typename ... on ComputeNode {
    effectiveVars(names: $names) { layer group value { json } overridden { layer group value { json } } }
  } }
}`)

// Runs

export const CREATE_JOB_TEMPLATE = graphql(`mutation CreateJobTemplate($input: CreateJobTemplateInput!) {
  createJobTemplate(input: $input) {
    __typename ... on CreateJobTemplatePayload { template { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const RUN_JOB = graphql(`mutation RunJob($input: RunJobInput!) {
  runJob(input: $input) {
    __typename ... on RunJobPayload { run { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const CANCEL_RUN = graphql(`mutation CancelRun($input: CancelJobRunInput!) {
  cancelJobRun(input: $input) { __typename ... on CancelJobRunPayload { run { id } } ... on Error { code message } }
}`)

export const RETRY_RUN = graphql(`mutation RetryRun($input: RetryJobRunInput!) {
  retryJobRun(input: $input) {
    __typename ... on RetryJobRunPayload { run { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const RUN_EVENTS = graphql(`subscription RunEvents($id: ID!, $after: BigInt) {
  jobRunEvents(id: $id, after: $after) { lastSeq events { seq kind host task createdAt } run { status } }
}`)

export const RUN_RESULT = graphql(`query RunResult($id: ID!) {
  node(id: $id) { __typename ... on JobRun {
    status createdAt startedAt ansibleStartedAt interruptedHosts { hostlist } hostCounts { total } hostSummary { result count }
  } }
}`)

export const RUN_ARTIFACTS = graphql(`query RunArtifacts($id: ID!) {
  node(id: $id) { __typename ... on JobRun { artifacts { kind downloadUrl } } }
}`)

export const RUN_HOSTS = graphql(`query RunHosts($id: ID!) {
  node(id: $id) { __typename ... on JobRun { hosts(first: 100) { edges { node { name result message } } } } }
}`)

export const NEWEST_RUNS = graphql(`query NewestRuns($first: Int!) {
  jobRuns(first: $first) { edges { node { finishedAt ansibleStartedAt lineCount } } }
}`)

// Agents and alerts

export const UPDATE_AGENT_SETTINGS = graphql(`mutation UpdateAgentSettings($input: UpdateAgentSettingsInput!) {
  updateAgentSettings(input: $input) {
    __typename ... on UpdateAgentSettingsPayload { agentSettings { staleAfterSeconds } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const CREATE_ENROLLMENT_TOKEN = graphql(`mutation CreateEnrollmentToken($nodeId: ID!) {
  createAgentEnrollmentToken(input: { nodeId: $nodeId }) {
    __typename ... on CreateAgentEnrollmentTokenPayload { token }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const HEARTBEATS = graphql(`subscription Heartbeats { heartbeats { name state } }`)

export const ALERT_UPDATED = graphql(`subscription AlertUpdated {
  alertUpdated { alert { id kind count resolvedAt node { name } } }
}`)

// Network boot and power

export const PLAN_MANIFESTS = graphql(`query PlanManifests($input: PlanManifestsInput!) {
  planManifests(input: $input) {
    __typename ... on ManifestPlan { issues { path message } changes { kind action names fields { path before after } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const BOOT_DHCP_CONFIG = graphql(`query BootDhcpConfig($input: DhcpConfigInput!) { bootDhcpConfig(input: $input) }`)

export const BOOT_OF_NODE = graphql(`query BootOfNode($name: String!) {
  nodes(first: 1, filter: { hostlist: $name }) { edges { node {
    id status host hostKeyFingerprint hostKeyAlarm { offeredFingerprint isChanged }
    bootAttempts(first: 10) { edges { node {
      id cause state mac profile profileVersion stuck { stage } timeline { stage durationMs } fetches { kind hash count hasToken refusal profile profileVersion }
    } } }
  } } }
}`)

export const UNKNOWN_MACHINES = graphql(`query UnknownMachines {
  unknownMachines(first: 50, filter: { state: NEW }) { edges { node { id mac arch serial systemUuid interfaces { name mac } } } }
}`)

export const ACCEPT_UNKNOWN_MACHINE = graphql(`mutation AcceptUnknownMachine($input: AcceptUnknownMachineInput!) {
  acceptUnknownMachine(input: $input) {
    __typename ... on AcceptUnknownMachinePayload { unknownMachine { node { id } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const START_POWER_RUN = graphql(`mutation StartPowerRun($input: StartPowerRunInput!) {
  startPowerRun(input: $input) {
    __typename ... on StartPowerRunPayload { powerRun { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const POWER_RUN_UPDATED = graphql(`subscription PowerRunUpdated($id: ID!) {
  powerRunUpdated(id: $id) { id status items(first: 10) { edges { node { result message } } } }
}`)
