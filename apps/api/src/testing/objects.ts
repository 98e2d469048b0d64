import { createApiToken, createRole, inviteMember } from '@muster/core/access'
import { createEnrollmentToken } from '@muster/core/agents'
import { createAlertRoute, createAlertSilence, testAlertRoute } from '@muster/core/alerts'
import { createAuditSink } from '@muster/core/audit-sinks'
import { createBootProfile } from '@muster/core/boot-profiles'
import { createBootRule } from '@muster/core/boot-service'
import { addSlurmCluster, testSlurmController } from '@muster/core/clusters'
import { testConnections } from '@muster/core/connections'
import { createSecretStore } from '@muster/core/credentials'
import { discoverNodes } from '@muster/core/discoveries'
import { createGrant } from '@muster/core/grants'
import { createNodeGroup } from '@muster/core/groups'
import { schema } from '@muster/core/registry'
import { rotateCredential } from '@muster/core/rotations'
import { runJob } from '@muster/core/runs'
import { createSchedule } from '@muster/core/schedules'
import { createSlurmConfigSnippet } from '@muster/core/slurm-configs'
import { uploadPlaybookBundle } from '@muster/core/templates'
import { slurmJob, slurmNode, slurmPartition, type TenantFixture, zip } from '@muster/core/testing'
import { createTrigger } from '@muster/core/triggers'
import { setVars } from '@muster/core/variables'
import { globalId, type TypeName } from '../graphql/shared/ids.ts'
import type { testApi } from './api.ts'
import { insertPasskey, insertSession } from './sessions.ts'

/** Creates a tenant with objects of most types through verbs. @returns their global IDs by type */
export async function createObjects(
  t: Awaited<ReturnType<typeof testApi>>,
): Promise<{ tenant: TenantFixture; ids: Record<string, string> }> {
  const { db } = t.runtime
  const tenant = await t.given.tenant()
  const { owner, admin, operator } = tenant
  const tenantId = tenant.tenant.id
  const credential = await t.given.credential(admin, 'SSH_KEY')
  const [node] = await t.given.fleet(operator, { accelerators: 1, prefix: 'secret', with: { credentialId: credential.id } })
  const nodeId = node!.id
  const run = await runJob(operator, { template: 'connectivity_check', nodeIds: [nodeId] })
  const rotated = await t.given.credential(admin, 'SSH_PASSWORD')
  await t.given.fleet(operator, { prefix: 'rotated', with: { credentialId: rotated.id } })
  const role = await createRole(owner, { name: 'custom-theirs', permissions: [] })
  const route = await createAlertRoute(admin, { name: 'theirs', kind: 'slack', url: 'https://hooks.test/' })
  await db.insert(schema.agents).values({ nodeId, tenantId, agentId: 'their-agent', cluster: 'theirs' })
  const insertOne = {
    key: { tenantId, nodeId, publicKey: 'theirs', status: 'ALLOWED' as const, createdByName: 'them' },
    alert: { tenantId, nodeId, kind: 'stale' as const, severity: 'warning' as const, key: `node:${nodeId}` },
    artifact: {
      tenantId,
      jobRunId: run.id,
      kind: 'log' as const,
      path: 'log.txt',
      size: 1,
      sha256: '',
      store: 'local' as const,
      key: 'a',
    },
  }
  const userId = tenant.viewer.actor.id!
  const member = await db.query.members.findFirst({ where: { tenantId, userId } })
  const granted = await createNodeGroup(operator, { name: 'their_granted_group' })
  const endsAt = new Date(Date.now() + 9e6)
  const objects: Partial<Record<TypeName, { id: string } | undefined>> = {
    ApiToken: (await createApiToken(owner, { name: 'theirs', role: role.name })).apiToken,
    Invitation: (await inviteMember(owner, { email: 'invited@theirs.test', role: 'viewer' })).invitation,
    Member: await db.query.members.findFirst({ where: { tenantId } }),
    User: { id: owner.actor.id! },
    Tenant: tenant.tenant,
    Session: await insertSession(db, owner.actor.id!),
    Passkey: await insertPasskey(db, owner.actor.id!),
    AgentKey: (await db.insert(schema.agentKeys).values(insertOne.key).returning())[0],
    AgentEnrollmentToken: (await createEnrollmentToken(operator, {})).enrollmentToken,
    Alert: (await db.insert(schema.alerts).values(insertOne.alert).returning())[0],
    AlertSilence: await createAlertSilence(operator, { matcher: {}, reason: 'theirs', endsAt }),
    AlertRoute: route,
    AlertDelivery: await testAlertRoute(admin, { id: route.id }),
    JobArtifact: (await db.insert(schema.jobArtifacts).values(insertOne.artifact).returning())[0],
    AuditSink: await createAuditSink(owner, { name: 'theirs', kind: 'syslog', host: 'siem.test' }),
    ConnectionTest: (await testConnections(operator, { nodeIds: [nodeId] }))[0],
    Credential: credential,
    SecretStore: await createSecretStore(admin, { name: 'theirs', address: 'https://vault.test', auth: 'TOKEN', secret: 't' }),
    Discovery: (await discoverNodes(operator, { nodeIds: [nodeId] }))[0],
    Grant: await createGrant(owner, { memberId: member!.id, role: 'operator', nodeGroupId: granted.id }),
    NodeGroup: await createNodeGroup(operator, { name: 'their_group' }),
    ComputeNode: node,
    BootProfile: await createBootProfile(admin, { name: 'theirs' }),
    BootRule: await createBootRule(admin, { name: 'theirs', names: 'their[1-9]', macPrefixes: ['02:00:5e'] }),
    CredentialRotation: await rotateCredential(admin, { id: rotated.id }),
    JobRun: run,
    JobTemplate: { id: run.templateId },
    Schedule: await createSchedule(operator, { name: 'theirs', target: 'discovery', limit: 'all', rule: '@daily' }),
    Trigger: (await createTrigger(operator, { name: 'theirs', template: 'connectivity_check', limit: 'all' })).trigger,
    PlaybookBundle: await uploadPlaybookBundle(admin, { name: 'theirs.zip', content: zip([{ path: 'site.yml' }]) }),
    VariableScope: await setVars(operator, { nodeId, text: 'theirs: 1', basedOn: 0 }),
  }
  const cluster = await addSlurmCluster(admin, { name: 'theirs', controllerNodeId: nodeId })
  Object.assign(objects, {
    SlurmCluster: cluster,
    SlurmClusterTest: await testSlurmController(operator, { nodeId }),
    SlurmConfigSnippet: await createSlurmConfigSnippet(admin, {
      name: 'theirs',
      files: { 'slurm.conf': 'KillWait=5' },
      clusterIds: [],
      reason: 'theirs',
    }),
    ...(await insertSlurmRows(t, { tenantId, clusterId: cluster.id })),
  })
  const ids = Object.entries(objects).map(([type, row]) => [type, globalId(type as TypeName, row!.id)])
  return { tenant, ids: Object.fromEntries(ids) }
}

/** What a refresh of a cluster reads. */
async function insertSlurmRows(
  { runtime: { db } }: Awaited<ReturnType<typeof testApi>>,
  of: { tenantId: string; clusterId: string },
) {
  const counts = { cpus: 8, allocatedCpus: 2, gpus: 4, allocatedGpus: 1 }
  const node = { ...of, ...counts, name: 'n1', state: 'MIXED', states: ['MIXED'], partitions: ['debug'], report: slurmNode('n1') }
  const job = { ...of, jobId: '1', state: 'RUNNING', partition: 'debug', nodeNames: ['n1'], report: slurmJob(1) }
  return {
    SlurmNode: (await db.insert(schema.slurmNodes).values(node).returning())[0],
    SlurmPartition: (
      await db
        .insert(schema.slurmPartitions)
        .values({ ...of, name: 'debug', report: slurmPartition('debug') })
        .returning()
    )[0],
    SlurmJob: (await db.insert(schema.slurmJobs).values(job).returning())[0],
  }
}
