import { createSecretStore } from '@muster/core/credentials'
import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant, credential }) => ({
    Credential: credential,
    SecretStore: await createSecretStore(tenant.admin, {
      name: 'theirs',
      address: 'https://vault.test',
      auth: 'TOKEN',
      secret: 't',
    }),
  }),
  cases: {
    'Query.credentials': { query: () => '{ it: credentials { edges { node { id } } } }', answer: { it: EMPTY_PAGE } },
    'Mutation.createCredential': {
      query: ({ theirs }) =>
        `mutation { it: createCredential(input: { name: "b", kind: BASTION, host: "h", username: "u", password: "pass", viaId: "${theirs.Credential}" }) { __typename } }`,
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.updateCredential': {
      query: ({ theirs }) =>
        `mutation { it: updateCredential(input: { id: "${theirs.Credential}", name: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.testCredential': {
      query: ({ theirs }) =>
        `mutation { it: testCredential(input: { id: "${theirs.Credential}", nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    // The encryption keys are shared; the secrets encrypted with them are not.
    'Query.credentialKey': {
      query: () => '{ it: credentialKey { totalCount pendingCount failures { name } } }',
      answer: { it: { totalCount: 0, pendingCount: 0, failures: [] } },
    },
    'Mutation.rotateCredentialKey': {
      query: () =>
        'mutation { it: rotateCredentialKey { __typename ... on RotateCredentialKeyPayload { credentialKey { totalCount pendingCount } } } }',
      answer: { it: { __typename: 'RotateCredentialKeyPayload', credentialKey: { totalCount: 0, pendingCount: 0 } } },
    },
    'Query.secretStores': {
      query: () => '{ it: secretStores { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Mutation.createSecretStore': {
      query: () =>
        'mutation { it: createSecretStore(input: { name: "theirs", address: "https://vault.test", auth: TOKEN, secret: "t" }) { __typename } }',
      answer: { it: { __typename: 'CreateSecretStorePayload' } },
    },
    'Mutation.updateSecretStore': {
      query: ({ theirs }) =>
        `mutation { it: updateSecretStore(input: { id: "${theirs.SecretStore}", mount: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deleteSecretStore': {
      query: ({ theirs }) => `mutation { it: deleteSecretStore(input: { id: "${theirs.SecretStore}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deleteCredential': {
      query: ({ theirs }) => `mutation { it: deleteCredential(input: { id: "${theirs.Credential}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
