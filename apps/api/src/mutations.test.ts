import { recordOfferedHostKey } from '@muster/core/connections'
import { makeHostKey, makePrivateKey, type TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { parseId } from './graphql/shared/ids.ts'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let cast: TenantFixture
beforeAll(async () => {
  t = await testApi()
})
beforeEach(async () => {
  cast = await t.given.tenant()
})
afterAll(() => t?.close())

type Result = { __typename: string; id: string; message: string; issues: { path: string; message: string }[] } & Record<
  string,
  never
>
/** Send one mutation; `select` is what is wanted of its success type. Gives its result. */
async function mutate(
  as: TenantFixture['owner'],
  field: string,
  select: string,
  variables: Record<string, [type: string, value: unknown]>,
): Promise<Result> {
  const parameters = Object.entries(variables)
  const query = `mutation (${parameters.map(([name, [type]]) => `$${name}: ${type}`).join(', ')}) {
    it: ${field}(${parameters.map(([name]) => `${name}: $${name}`).join(', ')}) { __typename ${select} ... on Error { message code } ... on InvalidInputError { issues { path message } } } }`
  const { it } = await t.ask<{ it: Result }>(as, query, Object.fromEntries(parameters.map(([name, [, value]]) => [name, value])))
  return it
}
const id = (value: string): Record<string, [string, unknown]> => ({ id: ['ID!', value] })
const input = (type: string, value: object): Record<string, [string, unknown]> => ({ input: [`${type}!`, value] })

const addNode = (as: TenantFixture['owner'], more: object = {}) =>
  mutate(
    as,
    'addNode',
    '... on ComputeNode { id name host port status connectionType tags labels writeBlockedReason purgeBlockedReason }',
    input('AddNodeInput', { name: 'gpu1', host: 'gpu1.example.com', ...more }),
  )

test('a node is added, changed, taken out of service and removed for good', async () => {
  const added = await addNode(cast.operator, { port: null, tags: ['a'], labels: { zone: 'b' } })
  expect(added).toMatchObject({
    name: 'gpu1',
    port: 22,
    status: 'NEW',
    connectionType: 'SSH',
    tags: ['a'],
    labels: { zone: 'b' },
    writeBlockedReason: null,
  })
  expect(added.purgeBlockedReason).toMatch('admin')
  expect(await addNode(cast.operator)).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('gpu1') })

  const status = (field: string, more: Record<string, [string, unknown]> = {}) =>
    mutate(cast.admin, field, '... on ComputeNode { status purgeBlockedReason notes displayName }', { ...id(added.id), ...more })
  const changed = await mutate(
    cast.operator,
    'updateNode',
    '... on ComputeNode { notes displayName port }',
    input('UpdateNodeInput', { id: added.id, notes: 'n', displayName: 'D', port: 2222 }),
  )
  expect(changed).toMatchObject({ notes: 'n', displayName: 'D', port: 2222 })
  const cleared = await mutate(
    cast.operator,
    'updateNode',
    '... on ComputeNode { notes displayName }',
    input('UpdateNodeInput', { id: added.id, displayName: null }),
  )
  expect(cleared).toMatchObject({ notes: 'n', displayName: null })
  const empty = await mutate(
    cast.operator,
    'updateNode',
    '... on ComputeNode { id }',
    input('UpdateNodeInput', { id: added.id, name: null }),
  )
  expect(empty).toMatchObject({ __typename: 'InvalidInputError', issues: [{ path: 'name' }] })

  expect(await status('setNodeMaintenance', { isOn: ['Boolean!', true] })).toMatchObject({ status: 'MAINTENANCE' })
  expect(await status('setNodeMaintenance', { isOn: ['Boolean!', false] })).toMatchObject({ status: 'NEW' })
  expect(await mutate(cast.admin, 'purgeNode', '', id(added.id))).toMatchObject({
    __typename: 'ConflictError',
    message: expect.stringContaining('decommission it first'),
  })
  expect(await status('decommissionNode')).toMatchObject({ status: 'DECOMMISSIONED', purgeBlockedReason: null })
  expect(await status('decommissionNode')).toMatchObject({ __typename: 'ConflictError' })
  expect(await status('recommissionNode')).toMatchObject({ status: 'NEW' })
  await status('decommissionNode')
  expect(await mutate(cast.admin, 'purgeNode', '... on Deleted { id }', id(added.id))).toEqual({
    __typename: 'Deleted',
    id: added.id,
  })
  expect(await status('recommissionNode')).toMatchObject({ __typename: 'NotFoundError' })
})

test.each([
  [{ host: '-oProxyCommand=reboot' }, 'host'],
  [{ host: 'a b' }, 'host'],
  [{ host: 'a;id' }, 'host'],
  [{ host: "a'b" }, 'host'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: '../x' }, 'name'],
  [{ port: 0 }, 'port'],
  [{ port: 65536 }, 'port'],
  [{ sshUser: '-l' }, 'sshUser'],
  [{ sshUser: '$(id)' }, 'sshUser'],
  [{ tags: [''] }, 'tags.0'],
  [{ labels: 'text' }, 'labels'],
  [{ hostKey: 'ssh-ed25519 AAAA' }, 'hostKey'],
])('a node with %j is refused at the field', async (more, path) => {
  const refused = await addNode(cast.operator, more)
  expect(refused).toMatchObject({
    __typename: 'InvalidInputError',
    issues: expect.arrayContaining([expect.objectContaining({ path })]),
  })
})

test('who may not gets Forbidden, who asks for nonsense NotFound', async () => {
  expect(await addNode(cast.viewer)).toMatchObject({ __typename: 'ForbiddenError', message: expect.stringContaining('operator') })
  expect(await addNode(cast.operator, { connectionType: 'LOCAL' })).toMatchObject({ __typename: 'ForbiddenError' })
  expect(await addNode(cast.operator, { credentialId: 'nonsense' })).toMatchObject({ __typename: 'NotFoundError' })
  // An id of another type is no id of a node.
  const credential = await t.given.credential(cast.admin, 'BECOME')
  const wrongType = Buffer.from(`Credential:${credential.id}`).toString('base64')
  expect(await mutate(cast.admin, 'decommissionNode', '', id(wrongType))).toMatchObject({ __typename: 'NotFoundError' })
})

const CREDENTIAL =
  '... on Credential { id name kind username becomeMethod host port publicKey secretsSet nodeCount via { name } }'

test('a credential is made, used, changed and deleted, and its secrets never come back', async () => {
  const make = (fields: object) => mutate(cast.admin, 'createCredential', CREDENTIAL, input('CreateCredentialInput', fields))
  const key = await make({
    name: 'key',
    kind: 'SSH_KEY',
    username: 'ops',
    privateKey: makePrivateKey('right'),
    passphrase: 'right',
  })
  expect(key).toMatchObject({
    kind: 'SSH_KEY',
    secretsSet: ['passphrase', 'privateKey'],
    publicKey: expect.stringMatching(/^ssh-ed25519 /),
    nodeCount: 0,
  })
  const wrong = await make({ name: 'other', kind: 'SSH_KEY', privateKey: makePrivateKey('right'), passphrase: 'wrong' })
  expect(wrong).toMatchObject({ __typename: 'InvalidInputError', issues: [{ path: 'passphrase' }] })
  expect(await make({ name: 'other', kind: 'SSH_KEY', privateKey: 'nonsense' })).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: 'privateKey' }],
  })
  expect(await make({ name: 'key', kind: 'SSH_PASSWORD', username: 'a', password: 'p' })).toMatchObject({
    __typename: 'ConflictError',
  })
  const outer = await make({ name: 'outer', kind: 'BASTION', host: 'jump.example.com', username: 'j', password: 'p' })
  const inner = await make({
    name: 'inner',
    kind: 'BASTION',
    host: '::1',
    port: 2222,
    username: 'j',
    password: 'p',
    viaId: outer.id,
  })
  expect(inner).toMatchObject({ host: '::1', port: 2222, via: { name: 'outer' } })
  expect(await make({ name: 'sudo', kind: 'BECOME', password: 'p', becomeMethod: 'SU' })).toMatchObject({
    becomeMethod: 'SU',
    secretsSet: ['password'],
  })

  const change = (fields: object) => mutate(cast.admin, 'updateCredential', CREDENTIAL, input('UpdateCredentialInput', fields))
  expect(await change({ id: key.id, name: 'renamed' })).toMatchObject({
    name: 'renamed',
    secretsSet: ['passphrase', 'privateKey'],
  })
  expect(await change({ id: outer.id, viaId: inner.id })).toMatchObject({ __typename: 'InvalidInputError' })

  await addNode(cast.operator, { credentialId: key.id, bastionId: inner.id })
  const used = await mutate(cast.admin, 'deleteCredential', '', id(key.id))
  expect(used).toMatchObject({ __typename: 'ConflictError', message: expect.stringContaining('gpu1') })
  const { credentials } = await t.ask<{ credentials: object }>(
    cast.viewer,
    '{ credentials(kind: [SSH_KEY, BASTION]) { totalCount edges { node { name nodeCount } } } }',
  )
  expect(credentials).toEqual({
    totalCount: 3,
    edges: [
      { node: { name: 'renamed', nodeCount: 1 } },
      { node: { name: 'outer', nodeCount: 0 } },
      { node: { name: 'inner', nodeCount: 1 } },
    ],
  })
  await t.ask(cast.operator, '{ nodes { edges { node { id } } } }')
  const spare = await make({ name: 'spare', kind: 'BECOME', password: 'p' })
  expect(await mutate(cast.admin, 'deleteCredential', '... on Deleted { id }', id(spare.id))).toEqual({
    __typename: 'Deleted',
    id: spare.id,
  })
  expect(await mutate(cast.operator, 'deleteCredential', '', id(outer.id))).toMatchObject({ __typename: 'ForbiddenError' })
})

test('an import is checked first, adds the good rows and says what is wrong with the others', async () => {
  const credential = await t.given.credential(cast.admin, 'SSH_KEY', { name: 'lab key' })
  const text = 'name,host,credential\na1,10.0.0.1,lab key\na2,10.0.0.2,no such\n-x,10.0.0.3,'
  const REPORT =
    '... on NodeImportReport { addedCount failedCount rows { row state name host port issues { path message } node { name credential { name } } } }'
  const check = `query ($input: NodeImportInput!) { it: checkNodeImport(input: $input) { __typename ${REPORT} } }`
  const dry = await t.ask<{ it: { rows: { state: string }[] } }>(cast.operator, check, { input: { format: 'CSV', text } })
  expect(dry.it.rows.map(({ state }) => state)).toEqual(['VALID', 'INVALID', 'INVALID'])
  const done = await mutate(
    cast.operator,
    'importNodes',
    REPORT,
    input('NodeImportInput', { format: 'CSV', text, defaults: { port: 2222, tags: ['new'] } }),
  )
  expect(done).toMatchObject({ addedCount: 1, failedCount: 2 })
  expect((done.rows as unknown as { state: string; port: number; node: object }[])[0]).toMatchObject({
    state: 'ADDED',
    port: 2222,
    node: { name: 'a1', credential: { name: credential.name } },
  })
  const again = await mutate(
    cast.operator,
    'importNodes',
    REPORT,
    input('NodeImportInput', { format: 'LIST', text: 'a[1-3]', onlyRows: null }),
  )
  expect(again).toMatchObject({ addedCount: 2 })
  expect(
    await mutate(cast.operator, 'importNodes', REPORT, input('NodeImportInput', { format: 'INVENTORY', text: '[unclosed' })),
  ).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await mutate(cast.viewer, 'importNodes', REPORT, input('NodeImportInput', { format: 'LIST', text: 'b' }))).toMatchObject(
    { __typename: 'ForbiddenError' },
  )
})

test('a host key is approved as it was offered, and no other', async () => {
  const node = await addNode(cast.operator)
  const rowId = parseId(node.id)!.id
  await recordOfferedHostKey(cast.worker, { objectType: 'ComputeNode', objectId: rowId, key: makeHostKey() })
  const { it } = await t.ask<{ it: { hostKeyAlarm: { offeredFingerprint: string } } }>(
    cast.viewer,
    `{ it: computeNode(name: "gpu1") { hostKeyAlarm { offeredFingerprint pinnedFingerprint isChanged } } }`,
  )
  expect(it.hostKeyAlarm).toMatchObject({ pinnedFingerprint: null, isChanged: false })
  const { offeredFingerprint } = it.hostKeyAlarm
  const approve = (fingerprint: string) =>
    mutate(
      cast.operator,
      'approveHostKeys',
      '... on HostKeyApprovalReport { nodes { hostKeyFingerprint hostKeyAlarm { isChanged } } credentials { id } }',
      {
        approvals: ['[HostKeyApproval!]!', [{ id: node.id, fingerprint }]],
      },
    )
  expect(await approve(`SHA256:${'A'.repeat(43)}`)).toMatchObject({ __typename: 'ConflictError' })
  expect(await approve('nonsense')).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await approve(offeredFingerprint)).toMatchObject({
    nodes: [{ hostKeyFingerprint: offeredFingerprint, hostKeyAlarm: null }],
    credentials: [],
  })
})

test('connection tests and discoveries are started', async () => {
  const [node] = await t.given.fleet(cast.operator, { nodes: 1 })
  const gid = Buffer.from(`ComputeNode:${node!.id}`).toString('base64')
  const nodeIds = (ids: string[]): Record<string, [string, unknown]> => ({ nodeIds: ['[ID!]!', ids] })
  expect(
    await mutate(
      cast.operator,
      'testConnections',
      '... on StartedConnectionTests { tests { isOk stages { stage } node { name } } }',
      nodeIds([gid]),
    ),
  ).toMatchObject({
    tests: [{ isOk: null, stages: [], node: { name: node!.name } }],
  })
  expect(await mutate(cast.operator, 'testConnections', '', nodeIds([]))).toMatchObject({ __typename: 'InvalidInputError' })
  expect(
    await mutate(
      cast.operator,
      'discoverNodes',
      '... on StartedDiscoveries { discoveries { reason status tools { tool } node { latestDiscovery { status } } } }',
      nodeIds([gid]),
    ),
  ).toMatchObject({
    discoveries: [{ reason: 'REFRESH', status: 'PENDING', tools: [], node: { latestDiscovery: { status: 'PENDING' } } }],
  })
  const fresh = await addNode(cast.operator)
  expect(await mutate(cast.operator, 'discoverNodes', '', nodeIds([fresh.id]))).toMatchObject({
    __typename: 'ConflictError',
    message: expect.stringContaining('host key'),
  })
})

test('two people who add the same node at once: one does, the other is told', async () => {
  const results = await Promise.all([addNode(cast.operator), addNode(cast.admin), addNode(cast.owner)])
  expect(results.map(({ __typename }) => __typename).sort()).toEqual(['ComputeNode', 'ConflictError', 'ConflictError'])
})
