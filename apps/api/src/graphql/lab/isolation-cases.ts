import { defineIsolation } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  cases: {
    'Query.labOffer': { query: () => '{ it: labOffer { areCredentialsReady } }', answer: { it: null } },
  },
})
