import { createNodeGroup } from '@muster/core/groups'
import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant }) => ({ NodeGroup: await createNodeGroup(tenant.operator, { name: 'their_group' }) }),
  cases: {
    'Query.nodeGroup': { query: () => `{ it: nodeGroup(name: "their_group") { id } }`, answer: { it: null } },
    'Query.nodeGroups': { query: () => '{ it: nodeGroups { edges { node { id } } } }', answer: { it: EMPTY_PAGE } },
    // Names are unique per tenant.
    'Mutation.createNodeGroup': {
      query: () => `mutation { it: createNodeGroup(input: { name: "their_group" }) { __typename } }`,
      answer: { it: { __typename: 'CreateNodeGroupPayload' } },
    },
    'Mutation.updateNodeGroup': {
      query: ({ theirs }) => `mutation { it: updateNodeGroup(input: { id: "${theirs.NodeGroup}", priority: 1 }) { __typename } }`,
      answer: { it: { __typename: 'NotFoundError' } },
    },
    'Mutation.deleteNodeGroup': {
      query: ({ theirs }) => `mutation { it: deleteNodeGroup(input: { id: "${theirs.NodeGroup}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.setNodeGroupMembers': {
      query: ({ theirs }) =>
        `mutation { it: setNodeGroupMembers(input: { id: "${theirs.NodeGroup}", addNodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
