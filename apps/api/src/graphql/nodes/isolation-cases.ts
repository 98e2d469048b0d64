import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ t, node }) => ({
    ComputeNode: node,
    Accelerator: (await t.runtime.db.query.accelerators.findFirst({ where: { nodeId: node.id } }))!,
  }),
  cases: {
    'Query.computeNode': { query: ({ names }) => `{ it: computeNode(name: "${names.node}") { id } }`, answer: { it: null } },
    'Query.nodes': {
      query: () =>
        '{ it: nodes { edges { node { id } } } again: nodes(filter: { text: "secret" }) { totalCount edges { node { id } } } }',
      answer: { it: EMPTY_PAGE, again: { totalCount: 0, edges: [] } },
    },
    'Query.nodeFacets': {
      query: () => '{ it: nodeFacets { statuses { value } healthStatuses { value } models { value } groups { value } } }',
      answer: { it: { statuses: [], healthStatuses: [], models: [], groups: [] } },
    },
    'Query.accelerators': {
      query: ({ theirs }) =>
        `{ it: accelerators(filter: { nodeId: "${theirs.ComputeNode}" }) { totalCount edges { node { id } } } }`,
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Query.checkNodeImport': {
      query: ({ names }) =>
        `{ it: checkNodeImport(input: { format: CSV, text: "name,host,credential\\n${names.node},10.0.0.1,${names.credential}" }) { __typename ... on NodeImportReport { rows { state node { id } } } } }`,
      // The names of the node and the credential are unknown in this tenant.
      answer: { it: { __typename: 'NodeImportReport', rows: [{ state: 'INVALID', node: null }] } },
    },
    'Mutation.addNode': {
      query: ({ theirs }) =>
        `mutation { it: addNode(input: { name: "n", host: "h", credentialId: "${theirs.Credential}" }) { __typename } }`,
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.updateNode': {
      query: ({ theirs }) => `mutation { it: updateNode(input: { id: "${theirs.ComputeNode}", notes: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.importNodes': {
      query: ({ theirs }) =>
        `mutation { it: importNodes(input: { format: LIST, text: "a", defaults: { credentialId: "${theirs.Credential}" } }) { __typename } }`,
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.setNodeMaintenance': {
      query: ({ theirs }) =>
        `mutation { it: setNodeMaintenance(input: { id: "${theirs.ComputeNode}", enabled: true }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.decommissionNode': {
      query: ({ theirs }) => `mutation { it: decommissionNode(input: { id: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.recommissionNode': {
      query: ({ theirs }) => `mutation { it: recommissionNode(input: { id: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.purgeNode': {
      query: ({ theirs }) => `mutation { it: purgeNode(input: { id: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Subscription.nodeUpdated': { query: ({ theirs }) => `subscription { nodeUpdated(id: "${theirs.ComputeNode}") { id } }` },
  },
})
