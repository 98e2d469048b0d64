import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { globalId } from '../shared/ids.ts'

let t: Awaited<ReturnType<typeof testApi>>
beforeAll(async () => {
  t = await testApi()
})
afterAll(() => t?.close())

const SET =
  'mutation ($input: SetVarsInput!) { it: setVars(input: $input) { __typename ... on SetVarsPayload { variableScope { version } } ... on Error { message } ... on InvalidInputError { issues { path message } } } }'

test('variables are set, explained, compared and kept in versions; secrets are set or unset, never shown', async () => {
  const { operator } = await t.given.tenant()
  const [a, b] = await t.given.fleet(operator, { nodes: 2 })
  const group = await createNodeGroup(operator, { name: 'amd' })
  await setNodeGroupMembers(operator, { id: group.id, addNodeIds: [a!.id] })
  const groupId = globalId('NodeGroup', group.id)
  const nodeId = globalId('ComputeNode', a!.id)
  const set = (input: object) => t.send<{ it: object }>(operator, SET, { input })
  expect((await set({ text: 'ntp: all # why', basedOn: 0 })).data.it).toEqual({
    __typename: 'SetVarsPayload',
    variableScope: { version: 1 },
  })
  await set({ groupId, text: 'ntp: amd', basedOn: 0, reason: 'other clock' })
  expect((await set({ groupId, text: 'ntp: late', basedOn: 0 })).data.it).toMatchObject({
    __typename: 'ConflictError',
    message: expect.stringMatching(/^test operator changed the variables of the group amd/),
  })
  expect((await set({ nodeId, text: 'a: [', basedOn: 0 })).data.it).toMatchObject({
    issues: [{ path: 'text', message: expect.stringMatching(/^line 1, column 5: /) }],
  })
  const secret = await t.send(
    operator,
    `mutation ($input: SetSecretVarInput!) { setSecretVar(input: $input) { ... on SetSecretVarPayload { variableScope { vars { name value { json isSecret } } versions { edges { node { version reason vars { name } changes { name change before { json isSecret } after { json isSecret } } } } } } } } }`,
    { input: { groupId, name: 'token', value: 'never to be seen' } },
  )
  expect(secret.data).toEqual({
    setSecretVar: {
      variableScope: {
        vars: [
          { name: 'ntp', value: { json: 'amd', isSecret: false } },
          { name: 'token', value: { json: null, isSecret: true } },
        ],
        versions: {
          edges: [
            {
              node: {
                version: 2,
                reason: null,
                vars: [{ name: 'ntp' }, { name: 'token' }],
                changes: [{ name: 'token', change: 'ADDED', before: null, after: { json: null, isSecret: true } }],
              },
            },
            {
              node: {
                version: 1,
                reason: 'other clock',
                vars: [{ name: 'ntp' }],
                changes: [{ name: 'ntp', change: 'ADDED', before: null, after: { json: 'amd', isSecret: false } }],
              },
            },
          ],
        },
      },
    },
  })
  const read = await t.send(
    operator,
    `query ($a: ID!, $b: ID!, $g: ID!) {
      globalVars { text vars { name value { json } } version group { id } }
      nodes { edges { node { vars { id } effectiveVars { name value { json isSecret } layer group overridden { value { json } layer group } } } } }
      nodeGroups { edges { node { vars { text updatedBy { name } updateBlockedReason } } } }
      compareVars(leftId: $a, rightId: $b) { name isSame left { value { json } } right { value { json } } }
      varsImpact(input: { groupId: $g, text: "ntp: new" }) { ... on VarsImpact { nodeCount changedCount vars { name nodeCount examples { nodeName before { value { json } } after { value { json } } } } } }
      varSettings { merge }
    }`,
    { a: nodeId, b: globalId('ComputeNode', b!.id), g: groupId },
  )
  expect(read.errors).toBeUndefined()
  const all = { value: { json: 'all' }, layer: 'GLOBAL', group: null }
  expect(read.data).toEqual({
    globalVars: { text: 'ntp: all # why', vars: [{ name: 'ntp', value: { json: 'all' } }], version: 1, group: null },
    nodes: {
      edges: [
        {
          node: {
            vars: null,
            effectiveVars: [
              { name: 'ntp', value: { json: 'amd', isSecret: false }, layer: 'GROUP', group: 'amd', overridden: [all] },
              { name: 'token', value: { json: null, isSecret: true }, layer: 'GROUP', group: 'amd', overridden: [] },
            ],
          },
        },
        {
          node: { vars: null, effectiveVars: [{ name: 'ntp', ...all, value: { json: 'all', isSecret: false }, overridden: [] }] },
        },
      ],
    },
    nodeGroups: {
      edges: [
        {
          node: {
            vars: { text: 'ntp: amd', updatedBy: { name: 'test operator' }, updateBlockedReason: null },
          },
        },
      ],
    },
    compareVars: [
      { name: 'ntp', isSame: false, left: { value: { json: 'amd' } }, right: { value: { json: 'all' } } },
      { name: 'token', isSame: false, left: { value: { json: null } }, right: null },
    ],
    varsImpact: {
      nodeCount: 1,
      changedCount: 1,
      vars: [
        {
          name: 'ntp',
          nodeCount: 1,
          examples: [{ nodeName: a!.name, before: { value: { json: 'amd' } }, after: { value: { json: 'new' } } }],
        },
      ],
    },
    varSettings: { merge: 'REPLACE' },
  })
  expect(JSON.stringify([secret, read])).not.toContain('never to be seen')
})
