import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  cases: {
    'Mutation.releaseNodeLocks': {
      query: ({ theirs }) =>
        `mutation { it: releaseNodeLocks(input: { nodeIds: ["${theirs.ComputeNode}"], reason: "x" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Query.queue': {
      query: () => '{ it: queue { isPaused pendingCount runningCount } }',
      answer: { it: { isPaused: false, pendingCount: 0, runningCount: 0 } },
    },
    'Mutation.pauseQueue': {
      query: () =>
        'mutation { it: pauseQueue(input: { reason: "mine" }) { __typename ... on PauseQueuePayload { queue { pendingCount } } } }',
      answer: { it: { __typename: 'PauseQueuePayload', queue: { pendingCount: 0 } } },
    },
    // The queue of the stranger is not paused.
    'Mutation.resumeQueue': {
      query: () => 'mutation { it: resumeQueue { __typename } }',
      answer: { it: { __typename: 'ConflictError' } },
    },
    'Mutation.setMaxConcurrentRuns': {
      query: () =>
        'mutation { it: setMaxConcurrentRuns(input: { maxConcurrentRuns: 3 }) { __typename ... on SetMaxConcurrentRunsPayload { queue { maxConcurrentRuns } } } }',
      answer: { it: { __typename: 'SetMaxConcurrentRunsPayload', queue: { maxConcurrentRuns: 3 } } },
    },
  },
})
