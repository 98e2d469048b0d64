import { generateKeyPairSync } from 'node:crypto'
import type { Lab } from '@muster/lab'
import type { Client } from './client.ts'
import {
  ADD_NODE,
  APPROVE_HOST_KEYS,
  CANCEL_RUN,
  CONNECTION_TEST_UPDATED,
  CREATE_API_TOKEN,
  CREATE_CREDENTIAL,
  DISCOVER_NODES,
  DISCOVERY_UPDATED,
  IMPORT_NODES,
  RUN_EVENTS,
  RUN_JOB,
  RUN_RESULT,
  SIGN_IN,
  TEST_CONNECTIONS,
} from './documents.ts'
import type { ResultOf, TadaDocumentNode, VariablesOf } from './graphql.ts'

/** Signs in with the one-time link. @returns the session token */
export async function signIn(api: Client, linkToken: string): Promise<string> {
  return (await api.mutate(SIGN_IN, { input: { token: linkToken } })).sessionToken
}

/** Creates an API token with the role of a viewer. */
export async function createViewerToken(api: Client): Promise<string> {
  return (await api.mutate(CREATE_API_TOKEN, { input: { name: 'bench', role: 'viewer' } })).secret
}

async function createCredential(api: Client, input: VariablesOf<typeof CREATE_CREDENTIAL>['input']): Promise<string> {
  return (await api.mutate(CREATE_CREDENTIAL, { input })).credential.id
}

/**
 * Does what a user does in the wizard: creates the credentials, imports all nodes, approves the host keys of the bastion and the nodes
 * after comparing them with the lab's, and tests until every node is ready.
 * @param prefix of the names of the credentials
 * @returns ids by name
 * @throws Error when a key differs from the lab's or a node does not become ready
 */
export async function onboard(api: Client, lab: Lab, prefix = 'lab'): Promise<Map<string, string>> {
  const { sshKey, bastionKey } = lab.credentials
  await createCredential(api, {
    name: `${prefix} key`,
    kind: 'SSH_KEY',
    username: sshKey.username,
    privateKey: sshKey.privateKey,
  })
  if (lab.bastion && bastionKey)
    await createCredential(api, {
      name: `${prefix} bastion`,
      kind: 'BASTION',
      host: lab.bastion.host,
      port: lab.bastion.port,
      username: bastionKey.username,
      privateKey: bastionKey.privateKey,
    })

  const rows = lab.nodes.map((n) =>
    [n.name, n.host, n.port, `${prefix} key`, n.behindBastion ? `${prefix} bastion` : ''].join(','),
  )
  const { report } = await api.mutate(IMPORT_NODES, {
    input: { format: 'CSV', text: ['name,host,port,credential,bastion', ...rows].join('\n') },
  })
  const ids = new Map<string, string>()
  for (const row of report.rows) {
    if (!row.node || !row.name) throw new Error(`${row.name} was not added: ${row.issues.map((i) => i.message).join('; ')}`)
    ids.set(row.name, row.node.id)
  }

  const expected = new Set([
    ...lab.nodes.map((n) => n.hostKeyFingerprint),
    ...(lab.bastion ? [lab.bastion.hostKeyFingerprint] : []),
  ])
  let untested = [...ids.values()]
  // The bastion first, then the nodes behind it: each round reaches one hop further.
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
      if (!expected.has(fingerprint)) throw new Error(`${fingerprint} is not a host key of the lab`)
    if (offered.size > 0)
      await api.mutate(APPROVE_HOST_KEYS, {
        input: { approvals: [...offered].map(([id, fingerprint]) => ({ id, fingerprint })) },
      })
    untested = failed.map((t) => t.node.id)
  }
  return ids
}

type ConnectionTest = ResultOf<typeof CONNECTION_TEST_UPDATED>['connectionTestUpdated']

/** Tests the connections to these nodes. @returns the finished tests */
export async function testConnections(api: Client, nodeIds: string[]): Promise<ConnectionTest[]> {
  const { connectionTests } = await api.mutate(TEST_CONNECTIONS, { input: { nodeIds } })
  const ids = connectionTests.map((test) => test.id)
  return lastUpdates(api, CONNECTION_TEST_UPDATED, ids, (data) => data.connectionTestUpdated)
}

export type Discovery = ResultOf<typeof DISCOVERY_UPDATED>['discoveryUpdated']

/** Discovers these nodes (null: all nodes). @returns the finished discoveries */
export async function discover(api: Client, nodeIds: string[] | null): Promise<Discovery[]> {
  const { discoveries } = await api.mutate(DISCOVER_NODES, { input: { nodeIds } })
  const ids = discoveries.map((discovery) => discovery.id)
  return lastUpdates(api, DISCOVERY_UPDATED, ids, (data) => data.discoveryUpdated)
}

/** Follows the objects until the subscription completes. @returns the last update of each */
async function lastUpdates<Data, T extends { id: string }>(
  api: Client,
  document: TadaDocumentNode<Data, { ids: string[] }>,
  ids: string[],
  updateOf: (data: Data) => T,
): Promise<T[]> {
  const last = new Map<string, T>()
  // A subscription takes at most 500 IDs.
  for (let i = 0; i < ids.length; i += 500)
    for await (const data of api.subscribe(document, { ids: ids.slice(i, i + 500) })) last.set(updateOf(data).id, updateOf(data))
  return ids.flatMap((id) => last.get(id) ?? [])
}

/** Adds a node that nothing connects to, for runs with a fake ansible-playbook. @returns its id */
export async function addUnreachableNode(api: Client, name: string): Promise<string> {
  const credentialId = await createCredential(api, { name, kind: 'SSH_PASSWORD', username: 'ops', password: `secret-of-${name}` })
  const { publicKey } = generateKeyPairSync('ed25519')
  // OpenSSH's format: the algorithm and the 32 bytes of the key, each after its length.
  const parts = [Buffer.from('ssh-ed25519'), publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)]
  const blob = Buffer.concat(parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]))
  const hostKey = `ssh-ed25519 ${blob.toString('base64')}`
  return (await api.mutate(ADD_NODE, { input: { name, host: '127.0.0.1', port: 9, credentialId, hostKey } })).node.id
}

/** Starts a run. @returns its id */
export async function runJob(api: Client, input: VariablesOf<typeof RUN_JOB>['input']): Promise<string> {
  return (await api.mutate(RUN_JOB, { input })).run.id
}

export async function cancelRun(api: Client, id: string): Promise<void> {
  await api.mutate(CANCEL_RUN, { input: { id } })
}

/** Reads status, times and host summary of a run. @throws Error when it does not exist */
export async function readRun(api: Client, id: string) {
  const { node } = await api.request(RUN_RESULT, { id })
  if (node?.__typename !== 'JobRun') throw new Error(`There is no run ${id}`)
  return node
}

type EventBatch = ResultOf<typeof RUN_EVENTS>['jobRunEvents']
export type LogEvent = EventBatch['events'][number]

/** Yields the events of a run after the sequence number `after` in batches, until the run ends or `signal` drops the connection. */
export async function* followRun(api: Client, id: string, after: number, signal?: AbortSignal): AsyncGenerator<EventBatch> {
  for await (const data of api.subscribe(RUN_EVENTS, { id, after }, signal)) yield data.jobRunEvents
}
