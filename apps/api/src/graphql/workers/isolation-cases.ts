import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async () => ({ Worker: { id: crypto.randomUUID() } }),
  cases: {
    // Workers serve all tenants.
    'Query.workers': { query: () => '{ it: workers { edges { node { id } } } }', answer: { it: EMPTY_PAGE } },
    'Mutation.drainWorker': {
      query: ({ theirs }) => `mutation { it: drainWorker(input: { id: "${theirs.Worker}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.undrainWorker': {
      query: ({ theirs }) => `mutation { it: undrainWorker(input: { id: "${theirs.Worker}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
