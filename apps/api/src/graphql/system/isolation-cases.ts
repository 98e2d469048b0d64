import { defineIsolation } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  cases: {
    // The five findings of the database concern the installation, not a tenant.
    'Query.systemChecks': {
      query: () => '{ it: systemChecks { __typename } }',
      answer: { it: Array(5).fill({ __typename: 'SystemCheck' }) },
    },
  },
})
