import { reconcileAgentStates } from '@muster/core/agents'
import { sealAuditEntries } from '@muster/core/audit'
import { discoverNodes, finishDiscovery, startDiscovery } from '@muster/core/discoveries'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { recordIngestLiveness, rollUpHeartbeatHistory } from '@muster/core/heartbeats'
import { claimJobRun } from '@muster/core/run-queue'
import { appendJobRunEvents, runJob } from '@muster/core/runs'
import { createJobTemplate } from '@muster/core/templates'
import { discoveryFixture, type TenantFixture } from '@muster/core/testing'
import { setSecretVar } from '@muster/core/variables'
import { registerWorker } from '@muster/core/workers'
import { serveHttp } from '../../http/server.ts'
import { agentClient, newName } from '../agent-client.ts'
import type { testApi } from '../api.ts'
import { createObjects } from '../objects.ts'
import { totpCode } from '../totp.ts'

type TestApi = Awaited<ReturnType<typeof testApi>>
export type Filled = { tenant: TenantFixture; admin: { email: string; password: string } }

const PASSWORD = 'correct horse battery staple'

/** Fills the tables through verbs and the API: two tenants with objects of every type, sessions, agents, runs and their log. */
export async function fillDatabase(t: TestApi): Promise<Filled> {
  await createObjects(t)
  const { tenant } = await createObjects(t)
  const { id: credentialId } = await t.given.credential(tenant.admin, 'SSH_KEY', { name: 'of the release' })
  await fillRuns(t, tenant, credentialId)
  await fillAgents(t, tenant)
  const admin = await setPasswords(t, tenant)
  await sealAuditEntries(t.runtime)
  return { tenant, admin }
}

/** Gives the admin a password, the operator also a second factor, and fails one sign-in. The owner has a passkey. */
async function setPasswords(t: TestApi, tenant: TenantFixture): Promise<Filled['admin']> {
  const emailOf = (role: string) => `${role}@${tenant.tenant.name}.test`
  for (const role of ['admin', 'operator']) {
    const token = await t.auth.createSignInToken(emailOf(role))
    const session = await t.ask<{ it: { sessionToken: string } }>(
      null,
      'mutation ($token: String!) { it: signInWithLink(input: { token: $token }) { ... on SignInWithLinkPayload { sessionToken } } }',
      { token },
    )
    const as = { headers: { authorization: `Bearer ${session.it.sessionToken}` } }
    await expectPayload(
      t,
      as,
      'mutation ($password: String!) { it: setPassword(input: { password: $password }) { __typename ... on Error { message } } }',
    )
    if (role === 'admin') continue
    const started = await t.ask<{ it: { uri: string } }>(
      as,
      'mutation ($password: String!) { it: startTotp(input: { currentPassword: $password }) { ... on StartTotpPayload { uri } } }',
      { password: PASSWORD },
    )
    await t.ask(as, 'mutation ($code: String!) { it: confirmTotp(input: { code: $code }) { __typename } }', {
      code: totpCode(started.it.uri),
    })
  }
  await t.auth.createSignInToken(emailOf('viewer'))
  await t.send(null, 'mutation { it: signIn(input: { email: "nobody@site.test", password: "wrong password" }) { __typename } }')
  return { email: emailOf('admin'), password: PASSWORD }
}

async function expectPayload(t: TestApi, as: Parameters<TestApi['ask']>[0], mutation: string): Promise<void> {
  const { it } = await t.ask<{ it: { __typename: string; message?: string } }>(as, mutation, { password: PASSWORD })
  if (!it.__typename.endsWith('Payload')) throw new Error(`${mutation} returned ${it.__typename}: ${it.message}`)
}

/** A run with a secret that holds a node, its log, a discovery, a group and a secret variable. */
async function fillRuns({ runtime, given }: TestApi, tenant: TenantFixture, credentialId: string): Promise<void> {
  const { admin, operator, worker } = tenant
  const workerId = await registerWorker(runtime, {
    name: 'worker',
    host: 'worker.site.test',
    pid: 1,
    version: '1',
    ansibleVersion: '2.19.0',
    concurrency: 4,
    isolation: 'bubblewrap',
  })
  const nodes = await given.fleet(operator, { nodes: 3, accelerators: 2, with: { credentialId } })
  const group = await createNodeGroup(operator, { name: 'of_the_release', idempotencyKey: 'once' })
  await setNodeGroupMembers(operator, { id: group.id, addNodeIds: [nodes[0]!.id] })
  await setSecretVar(operator, { groupId: group.id, name: 'token', value: 'a secret of the release' })
  await createJobTemplate(admin, {
    name: 'with_secret',
    playbookPath: 'site.yml',
    inputSchema: { type: 'object', properties: { key: { type: 'string', 'x-secret': true } } },
  })
  const { id } = await runJob(operator, {
    template: 'with_secret',
    limit: nodes[1]!.name,
    extraVars: { key: 'a secret of the run' },
  })
  const claim = await claimJobRun(worker, { id, workerId })
  const events = [{ kind: 'output', stdout: 'a line of the log', createdAt: new Date() }]
  await appendJobRunEvents(worker, { id, token: claim!.token, events })
  const [discovery] = await discoverNodes(operator, { nodeIds: [nodes[2]!.id] })
  await startDiscovery(worker, { id: discovery!.id })
  await finishDiscovery(worker, { id: discovery!.id, result: discoveryFixture(), evidence: Buffer.from('probe'), durationMs: 10 })
}

/** An agent that sends heartbeats, and the periodic work on them. */
async function fillAgents(t: TestApi, { admin }: TenantFixture): Promise<void> {
  const server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  try {
    const agent = agentClient(`http://127.0.0.1:${server.port}`)
    const { name, keys } = await agent.enroll(admin, newName())
    await agent.beat(keys, { node_id: name, sequence_number: 2 })
    await recordIngestLiveness(t.runtime)
    await reconcileAgentStates(t.runtime)
    await rollUpHeartbeatHistory(t.runtime)
  } finally {
    await server.stop()
  }
}
