import { generateKeyPairSync } from 'node:crypto'
import type { Lab } from '@muster/lab'
import type { Client } from './client.ts'

/** The errors of a mutation, as every result selects them. */
export const ERROR = '... on Error { code message } ... on InvalidInputError { issues { path message } }'

/** Sign in by the one-time link. @returns the token for further requests */
export async function signIn(api: Client, linkToken: string): Promise<string> {
  const { sessionToken } = await api.mutate<{ sessionToken: string }>(
    `mutation ($token: String!) { signInWithLink(input: { token: $token }) { __typename ... on SignInWithLinkPayload { sessionToken } ... on Error { code message } } }`,
    { token: linkToken },
  )
  return sessionToken
}

async function createCredential(api: Client, input: Record<string, unknown>): Promise<string> {
  const { credential } = await api.mutate<{ credential: { id: string } }>(
    `mutation ($input: CreateCredentialInput!) { createCredential(input: $input) { __typename ... on CreateCredentialPayload { credential { id } } ${ERROR} } }`,
    { input },
  )
  return credential.id
}

/**
 * What a person does in the wizard: give the credentials, add all nodes at once, approve the bastion's and the nodes'
 * host keys after comparing them with what the lab says they are, test until every node is ready.
 * @returns ids by name
 * @throws Error when a key differs from the lab's or a node does not become ready
 */
export async function onboard(api: Client, lab: Lab): Promise<Map<string, string>> {
  const { sshKey, bastionKey } = lab.credentials
  await createCredential(api, { name: 'lab key', kind: 'SSH_KEY', username: sshKey.username, privateKey: sshKey.privateKey })
  if (lab.bastion && bastionKey)
    await createCredential(api, {
      name: 'lab bastion',
      kind: 'BASTION',
      host: lab.bastion.host,
      port: lab.bastion.port,
      username: bastionKey.username,
      privateKey: bastionKey.privateKey,
    })

  const rows = lab.nodes.map((n) => [n.name, n.host, n.port, 'lab key', n.behindBastion ? 'lab bastion' : ''].join(','))
  const { report } = await api.mutate<{
    report: { rows: { name: string; state: string; issues: { message: string }[]; node: { id: string } | null }[] }
  }>(
    `mutation ($input: ImportNodesInput!) {
      importNodes(input: $input) { __typename ... on ImportNodesPayload { report { rows { name state issues { message } node { id } } } } ${ERROR} }
    }`,
    { input: { format: 'CSV', text: ['name,host,port,credential,bastion', ...rows].join('\n') } },
  )
  const ids = new Map<string, string>()
  for (const row of report.rows) {
    if (!row.node) throw new Error(`${row.name} was not added: ${row.issues.map((i) => i.message).join('; ')}`)
    ids.set(row.name, row.node.id)
  }

  const expected = new Set([
    ...lab.nodes.map((n) => n.hostKeyFingerprint),
    ...(lab.bastion ? [lab.bastion.hostKeyFingerprint] : []),
  ])
  let untested = [...ids.values()]
  // Bastion first, then what is behind it: each round gets one hop further.
  for (let round = 0; untested.length > 0; round++) {
    if (round > 3) throw new Error(`${untested.length} nodes are not ready after ${round} rounds of approving keys`)
    const tests = await testConnections(api, untested)
    const offered = new Map(
      tests.flatMap((t) =>
        t.stages.flatMap((s) => (s.offeredKey ? [[s.offeredKey.objectId, s.offeredKey.fingerprint] as const] : [])),
      ),
    )
    const failed = tests.filter((t) => !t.isOk)
    if (failed.length > 0 && offered.size === 0) throw new Error(`Connection tests failed: ${JSON.stringify(failed, null, 1)}`)
    for (const fingerprint of offered.values())
      if (!expected.has(fingerprint)) throw new Error(`${fingerprint} is no key of the lab`)
    if (offered.size > 0)
      await api.mutate(
        `mutation ($approvals: [HostKeyApprovalInput!]!) { approveHostKeys(input: { approvals: $approvals }) { __typename ... on ApproveHostKeysPayload { nodes { id } } ${ERROR} } }`,
        { approvals: [...offered].map(([id, fingerprint]) => ({ id, fingerprint })) },
      )
    untested = failed.map((t) => t.node.id)
  }
  return ids
}

type ConnectionTest = {
  id: string
  isOk: boolean | null
  finishedAt: string | null
  error: string | null
  node: { id: string; name: string }
  stages: {
    stage: string
    hop: string | null
    state: string
    detail: string | null
    offeredKey: { objectId: string; fingerprint: string } | null
  }[]
}

/** Test the way to these nodes and follow until all tests are over. */
export async function testConnections(api: Client, nodeIds: string[]): Promise<ConnectionTest[]> {
  const { connectionTests } = await api.mutate<{ connectionTests: { id: string }[] }>(
    `mutation ($nodeIds: [ID!]!) { testConnections(input: { nodeIds: $nodeIds }) { __typename ... on TestConnectionsPayload { connectionTests { id } } ${ERROR} } }`,
    { nodeIds },
  )
  return await lastStates<ConnectionTest>(
    api,
    'connectionTestUpdated',
    `id isOk finishedAt error node { id name } stages { stage hop state detail offeredKey { objectId fingerprint } }`,
    connectionTests.map((t) => t.id),
  )
}

export type Discovery = {
  id: string
  status: string
  error: string | null
  finishedAt: string | null
  acceleratorCount: number
  durationMs: number | null
  node: { name: string }
}

/** Look at these nodes' hardware (null: all that can be) and follow until all are done. */
export async function discover(api: Client, nodeIds: string[] | null): Promise<Discovery[]> {
  const { discoveries } = await api.mutate<{ discoveries: { id: string }[] }>(
    `mutation ($nodeIds: [ID!]) { discoverNodes(input: { nodeIds: $nodeIds }) { __typename ... on DiscoverNodesPayload { discoveries { id } } ${ERROR} } }`,
    { nodeIds },
  )
  return await lastStates<Discovery>(
    api,
    'discoveryUpdated',
    `id status error finishedAt acceleratorCount durationMs node { name }`,
    discoveries.map((d) => d.id),
  )
}

async function lastStates<T extends { id: string }>(api: Client, field: string, selection: string, ids: string[]): Promise<T[]> {
  const last = new Map<string, T>()
  const updates = api.subscribe<Record<string, T>>(`subscription ($ids: [ID!]!) { ${field}(ids: $ids) { ${selection} } }`, {
    ids,
  })
  for await (const data of updates) last.set(data[field]!.id, data[field]!)
  return ids.flatMap((id) => last.get(id) ?? [])
}

/** Add a node that nobody connects to, for runs whose ansible-playbook is a stand-in. @returns its id */
export async function addSilentNode(api: Client, name: string): Promise<string> {
  const credentialId = await createCredential(api, { name, kind: 'SSH_PASSWORD', username: 'ops', password: `secret-of-${name}` })
  const { publicKey } = generateKeyPairSync('ed25519')
  // OpenSSH's form: its name and the key's 32 bytes, each with its length in front.
  const parts = [Buffer.from('ssh-ed25519'), publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)]
  const blob = Buffer.concat(parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]))
  const { node } = await api.mutate<{ node: { id: string } }>(
    `mutation ($input: AddNodeInput!) { addNode(input: $input) { __typename ... on AddNodePayload { node { id } } ${ERROR} } }`,
    { input: { name, host: '127.0.0.1', port: 9, credentialId, hostKey: `ssh-ed25519 ${blob.toString('base64')}` } },
  )
  return node.id
}

/** Start a run. @returns its id */
export async function runJob(api: Client, input: Record<string, unknown>): Promise<string> {
  const { run } = await api.mutate<{ run: { id: string } }>(
    `mutation ($input: RunJobInput!) { runJob(input: $input) { __typename ... on RunJobPayload { run { id } } ${ERROR} } }`,
    { input },
  )
  return run.id
}

/** Ask a run to stop. */
export async function cancelRun(api: Client, id: string): Promise<void> {
  await api.mutate(
    `mutation ($id: ID!) { cancelJobRun(input: { id: $id }) { __typename ... on CancelJobRunPayload { run { id } } ... on Error { code message } } }`,
    { id },
  )
}

export type LogEvent = { seq: number; kind: string; host: string | null; task: string | null; createdAt: string }

export const LOG_SUBSCRIPTION =
  'subscription ($id: ID!, $after: BigInt) { jobRunEvents(id: $id, after: $after) { lastSeq events { seq kind host task createdAt } run { status } } }'
type Batch = { jobRunEvents: { lastSeq: number; events: LogEvent[]; run: { status: string } } }

/** The events of a run from `after` on, batch by batch, until the run is over or `signal` drops the connection. */
export async function* followRun(
  api: Client,
  id: string,
  after: number,
  signal?: AbortSignal,
): AsyncGenerator<Batch['jobRunEvents']> {
  const updates = api.subscribe<Batch>(LOG_SUBSCRIPTION, { id, after }, signal)
  for await (const data of updates) yield data.jobRunEvents
}
