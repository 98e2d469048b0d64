import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ run }) => ({ JobRun: run }),
  cases: {
    'Query.jobRun': { query: () => '{ it: jobRun(number: 1) { id } }', answer: { it: null } },
    'Query.jobRuns': {
      query: ({ theirs }) => `{ it: jobRuns(filter: { nodeId: "${theirs.ComputeNode}" }) { totalCount edges { node { id } } } }`,
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Query.previewRun': {
      query: ({ theirs }) =>
        `{ it: previewRun(input: { template: "connectivity_check", nodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.runJob': {
      query: ({ theirs }) =>
        `mutation { it: runJob(input: { template: "connectivity_check", nodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.retryJobRun': {
      query: ({ theirs }) => `mutation { it: retryJobRun(input: { id: "${theirs.JobRun}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Query.failureSignatures': {
      query: ({ theirs }) =>
        `{ it: failureSignatures(filter: { runId: "${theirs.JobRun}" }) { totalCount edges { node { signature } } } all: failureSignatures { edges { node { signature } } } }`,
      answer: { it: { totalCount: 0, edges: [] }, all: EMPTY_PAGE },
    },
    'Mutation.cancelJobRun': {
      query: ({ theirs }) => `mutation { it: cancelJobRun(input: { id: "${theirs.JobRun}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Subscription.jobRunEvents': {
      query: ({ theirs }) => `subscription { jobRunEvents(id: "${theirs.JobRun}") { lastSeq } }`,
      code: 'NOT_FOUND',
    },
    'Subscription.jobRunUpdated': { query: ({ theirs }) => `subscription { jobRunUpdated(id: "${theirs.JobRun}") { id } }` },
  },
})
