import { createApiToken } from '@muster/core/access'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'
import { insertSession } from '../../testing/sessions.ts'

export const isolation = defineIsolation({
  objects: async ({ t, tenant }) => ({
    ApiToken: (await createApiToken(tenant.owner, { name: 'theirs', role: 'viewer' })).apiToken,
    Member: (await t.runtime.db.query.members.findFirst({ where: { tenantId: tenant.tenant.id } }))!,
    User: { id: tenant.owner.actor.id! },
    Tenant: { id: tenant.tenant.id },
    Session: await insertSession(t.runtime.db, tenant.owner.actor.id!),
  }),
  cases: {
    // The stranger calls with an API token, which has no sessions.
    'Query.sessions': {
      query: () => '{ it: sessions { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Mutation.endSession': {
      query: ({ theirs }) => `mutation { it: endSession(input: { id: "${theirs.Session}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.endOtherSessions': {
      query: () => 'mutation { it: endOtherSessions { __typename ... on EndOtherSessionsPayload { endedCount } } }',
      answer: { it: { __typename: 'EndOtherSessionsPayload', endedCount: 0 } },
    },
    // The stranger's own token.
    'Query.apiTokens': {
      query: () => '{ it: apiTokens { edges { node { name } } } }',
      answer: { it: { edges: [{ node: { name: 'test owner' } }] } },
    },
    'Query.members': {
      query: () => '{ it: members(first: 1) { totalCount edges { node { role } } } }',
      answer: { it: { totalCount: 4, edges: [{ node: { role: 'OWNER' } }] } },
    },
    'Mutation.setPassword': {
      query: () => 'mutation { it: setPassword(input: { password: "long enough for all" }) { __typename } }',
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.createApiToken': {
      query: () =>
        'mutation { it: createApiToken(input: { name: "x", role: VIEWER }) { __typename ... on CreateApiTokenPayload { apiToken { role } } } }',
      answer: { it: { __typename: 'CreateApiTokenPayload', apiToken: { role: 'VIEWER' } } },
    },
    'Mutation.revokeApiToken': {
      query: ({ theirs }) => `mutation { it: revokeApiToken(input: { id: "${theirs.ApiToken}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
