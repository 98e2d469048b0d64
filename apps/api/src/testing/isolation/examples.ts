import { zip } from '@muster/core/testing'
import type { TypeName } from '../../graphql/shared/ids.ts'

/** Valid values of required arguments by name, where the type does not say what is valid. */
export const VALUES: Record<string, unknown> = {
  address: 'https://vault.test',
  basedOn: 1,
  code: '123456',
  content: zip([{ path: 'site.yml' }]).toString('base64'),
  email: 'made@example.test',
  fingerprint: `SHA256:${'A'.repeat(43)}`,
  host: 'made.test',
  password: 'correct horse battery',
  permissions: 'node:write',
  playbookPath: 'site.yml',
  publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  role: 'viewer',
  template: 'connectivity_check',
  text: 'made: 1',
  url: 'https://hooks.test/',
  version: 1,
}

/** How an argument names an object, if not by the name alone. */
export const FORMS: Record<string, (name: string) => string> = {
  email: (name) => `owner@${name}.test`,
  query: (name) => `name = ${name}`,
}

/** Types of required IDs, by argument, that cannot be guessed from the name. */
export const TYPE_OF: Record<string, TypeName> = {
  leftId: 'ComputeNode',
  rightId: 'ComputeNode',
  fromId: 'Discovery',
  toId: 'Discovery',
  controllerNodeId: 'ComputeNode',
  backupNodeId: 'ComputeNode',
  'Mutation.matchSlurmNode(input.id)': 'SlurmNode',
  'Mutation.matchSlurmNode(input.nodeId)': 'ComputeNode',
  'Mutation.onboardSlurmNodes(input.clusterId)': 'SlurmCluster',
  'Mutation.testSlurmController(input.nodeId)': 'ComputeNode',
  'Mutation.approveHostKeys(input.approvals.id)': 'ComputeNode',
}

const GIT = { source: 'GIT', playbookPath: 'site.yml', git: { url: 'https://git.test/x.git', ref: 'main' } }
const MANIFESTS = { files: [{ name: 'made.yaml', text: '# no objects' }] }
const BASTION = { kind: 'BASTION', host: 'made.test', username: 'made', password: 'correct horse' }

const IN_STORE = { secretRefs: [{ field: 'PASSWORD', path: 'made', key: 'made' }] }

/** Further values without which an operation, or an operation with a certain argument, does not reach its objects. */
export const MORE: Record<string, Record<string, unknown>> = {
  'Query.planManifests': { input: MANIFESTS },
  'Query.bootDhcpConfig': { input: { subnet: '10.0.0.0/24', first: '10.0.0.1', last: '10.0.0.9' } },
  'Query.checkNodeImport': { input: { format: 'LIST', text: 'made.test' } },
  'Query.jobRun': { number: 7001 },
  'Query.nodes(filter.label.value)': { filter: { label: [{ key: '$marker' }] } },
  'Query.previewRun': { input: { limit: 'all' } },
  'Query.previewRun(input.nodeIds)': { input: { limit: undefined } },
  'Query.previewSlurmScaleOut': { input: { limit: 'all' } },
  'Query.previewSlurmScaleOut(input.nodeIds)': { input: { limit: undefined } },
  'Query.previewSlurmAction': { input: { verb: 'DRAIN_NODES', nodes: { hostlist: '$marker' } } },
  'Query.previewSlurmAction(input.nodes.partition)': { input: { nodes: { hostlist: undefined } } },
  'Query.previewSlurmAction(input.jobs.user)': { input: { verb: 'HOLD_JOBS', nodes: undefined } },
  'Query.previewSlurmAction(input.partitions)': {
    input: { verb: 'SET_PARTITION_STATE', nodes: undefined, partitionState: 'UP' },
  },
  'Query.previewSlurmAction(input.reservation.name)': { input: { verb: 'DELETE_RESERVATION', nodes: undefined } },
  'Query.previewPowerRun': { input: { action: 'BOOT_ONCE', bootDevice: 'PXE', limit: 'all' } },
  'Query.previewPowerRun(input.nodeIds)': { input: { limit: undefined } },
  'Query.previewSlurmConfig': { input: { number: 1 } },
  'Query.previewSlurmPowerSaving': { input: { settings: undefined } },
  'Query.varsImpact': { input: { text: 'made: 1' } },
  'Query.varsImpact(input.secret)': { input: { text: undefined } },
  'Mutation.acceptUnknownMachine': { input: { name: 'made' } },
  'Mutation.acceptUnknownMachine(input.nodeId)': { input: { name: undefined } },
  'Mutation.assignBootProfile(input.profileId)': { input: { allNodes: true } },
  'Mutation.createBootRule': { input: { names: 'made[1-9]', macPrefixes: ['02:00:5e'] } },
  'Mutation.approveAgentChange(input.nodeId)': { input: { fingerprint: 'made' } },
  'Mutation.addNode(input.bmc.credentialId)': { input: { bmc: { address: 'made.test' } } },
  'Mutation.addSlurmCluster(input.backupNodeId)': { input: { controllerNodeId: '$ComputeNode:0' } },
  'Mutation.scaleOutSlurmCluster': { input: { limit: 'all' } },
  'Mutation.scaleOutSlurmCluster(input.nodeIds)': { input: { limit: undefined } },
  'Mutation.checkSlurmReadiness': { input: { limit: 'all' } },
  'Mutation.checkSlurmReadiness(input.nodeIds)': { input: { limit: undefined } },
  'Mutation.lookUpSlurmPriority': { input: { jobId: '$marker' } },
  'Mutation.createSlurmCluster(input.accounting.nodeId)': { input: { accounting: { kind: 'MANAGED' } } },
  'Mutation.createSlurmCluster': {
    input: { name: 'made', controllerNodeId: '$ComputeNode:0', computeNodeIds: ['$ComputeNode:0'] },
  },
  'Mutation.createSlurmConfigSnippet': { input: { files: { slurmConf: 'MaxArraySize=1' } } },
  'Mutation.updateSlurmConfigSnippet': { input: { expectedVersion: 1 } },
  'Query.previewSchedule': { input: { rule: '@daily' } },
  'Mutation.createSchedule': { input: { target: 'DISCOVERY', limit: 'all', rule: '@daily' } },
  'Mutation.createSchedule(input.template)': { input: { target: 'RUN' } },
  'Mutation.updateSchedule(input.template)': { input: { limit: 'all' } },
  'Mutation.createTrigger': { input: { template: 'connectivity_check', limit: 'all' } },
  'Mutation.updateTrigger': { input: { maxPerHour: 7 } },
  'Mutation.createAlertRoute': { input: { kind: 'SLACK', url: 'https://hooks.test/' } },
  'Mutation.applyManifests': { input: MANIFESTS },
  'Mutation.createAuditSink': { input: { kind: 'SYSLOG', host: 'siem.test' } },
  'Mutation.createCredential': { input: BASTION },
  'Mutation.createCredential(input.secretStoreId)': {
    input: { password: undefined, ...IN_STORE },
  },
  'Mutation.createJobTemplate': { input: { settings: { playbookPath: 'playbooks/ping.yml' } } },
  'Mutation.createJobTemplate(input.settings.bundleId)': { input: { settings: { source: 'BUNDLE', playbookPath: 'site.yml' } } },
  'Mutation.createJobTemplate(input.settings.git.credentialId)': { input: { settings: GIT } },
  'Mutation.createSecretStore': { input: { auth: 'TOKEN', address: 'https://vault.test' } },
  'Mutation.createGrant': { input: { role: 'operator', nodeGroupId: '$NodeGroup:0' } },
  'Mutation.createGrant(input.slurmClusterId)': { input: { nodeGroupId: undefined } },
  'Mutation.discoverBmcs': { input: { addresses: ['10.0.0.1'] } },
  'Mutation.discoverBmcs(input.credentialId)': { input: { caCertificate: undefined } },
  'Mutation.discoverNodes': { input: { nodeIds: ['$ComputeNode:0'] } },
  'Mutation.deleteRole': { input: { name: '$marker' } },
  'Mutation.importNodes': { input: { format: 'LIST', text: 'made.test' } },
  'Mutation.retryJobRun(input.nodeIds)': { input: { id: '$JobRun:0' } },
  'Mutation.runJob': { input: { limit: 'all' } },
  'Mutation.runJob(input.nodeIds)': { input: { limit: undefined } },
  'Mutation.startPowerRun': { input: { action: 'BOOT_ONCE', bootDevice: 'PXE', limit: 'all' } },
  'Mutation.startPowerRun(input.nodeIds)': { input: { limit: undefined } },
  'Mutation.startSlurmAction': { input: { verb: 'DRAIN_NODES', nodes: { hostlist: '$marker' } } },
  'Mutation.rolloutSlurmConfig': { input: { number: 1 } },
  'Mutation.setSlurmPowerSaving': { input: { settings: undefined } },
  'Mutation.saveSlurmConfig': { input: { files: { slurmConf: 'made' } } },
  'Mutation.validateSlurmConfig': { input: { number: 1 } },
  'Mutation.setStepUp': { input: { minutes: 30 } },
  'Mutation.setRetention': { input: { logDays: 7 } },
  'Mutation.updateAgentSettings': { input: { staleAfterSeconds: 90 } },
  'Mutation.updateLedgerSettings': { input: { intervalSeconds: 90 } },
  'Mutation.updateTenant': { input: { maxConcurrentRuns: 3 } },
  'Mutation.unassignBootProfile(input.profileId)': { input: { allNodes: true } },
  'Mutation.updateCredential': { input: { description: 'made' } },
  'Mutation.updateCredential(input.secretStoreId)': { input: { id: '$Credential:3', ...IN_STORE } },
  'Mutation.updateCredential(input.viaId)': { input: { id: '$Credential:1' } },
  'Mutation.updateJobTemplate(input.settings.bundleId)': { input: { settings: { source: 'BUNDLE', playbookPath: 'site.yml' } } },
  'Mutation.updateRole': { input: { name: '$marker' } },
  'Mutation.updateJobTemplate(input.settings.git.credentialId)': { input: { settings: GIT } },
}

/** Types whose IDs an argument may have, most likely first: guessed from its name, confirmed by the owner's answer. */
export function likelyTypes(operation: string, path: string[], types: TypeName[]): TypeName[] {
  const last = path.at(-1)!.replace(/Ids?$|^ids?$/, '')
  const text = (last || operation).toLowerCase()
  const score = (type: string): number => {
    const words = type.split(/(?=[A-Z])/)
    const parts = words.map((_, i) => words.slice(i).join('').toLowerCase())
    const isOther = words[0] === 'Slurm' && !/slurm/i.test(operation)
    return isOther ? 0 : Math.max(0, ...parts.filter((part) => text.includes(part)).map((part) => part.length))
  }
  return [...types].sort((a, b) => score(b) - score(a))
}
