import { setVars } from '@muster/core/variables'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant, node }) => ({
    VariableScope: await setVars(tenant.operator, { nodeId: node.id, text: 'theirs: 1', basedOn: 0 }),
  }),
  cases: {
    'Query.globalVars': { query: () => '{ it: globalVars { id } }', answer: { it: null } },
    'Query.varSettings': { query: () => '{ it: varSettings { merge } }', answer: { it: { merge: 'REPLACE' } } },
    'Query.compareVars': {
      query: ({ theirs }) => `{ compareVars(leftId: "${theirs.ComputeNode}", rightId: "${theirs.ComputeNode}") { name } }`,
      code: 'NOT_FOUND',
    },
    'Query.varsImpact': {
      query: ({ theirs }) => `{ it: varsImpact(input: { nodeId: "${theirs.ComputeNode}", text: "a: 1" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.setVars': {
      query: ({ theirs }) =>
        `mutation { it: setVars(input: { nodeId: "${theirs.ComputeNode}", text: "mine: 1", basedOn: 1 }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.restoreVars': {
      query: ({ theirs }) =>
        `mutation { it: restoreVars(input: { nodeId: "${theirs.ComputeNode}", version: 1 }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.setSecretVar': {
      query: ({ theirs }) =>
        `mutation { it: setSecretVar(input: { groupId: "${theirs.NodeGroup}", name: "mine", value: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.unsetSecretVar': {
      query: ({ theirs }) =>
        `mutation { it: unsetSecretVar(input: { nodeId: "${theirs.ComputeNode}", name: "theirs" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.setVarMerge': {
      query: () =>
        'mutation { it: setVarMerge(input: { merge: REPLACE }) { __typename ... on SetVarMergePayload { varSettings { merge } } } }',
      answer: { it: { __typename: 'SetVarMergePayload', varSettings: { merge: 'REPLACE' } } },
    },
  },
})
