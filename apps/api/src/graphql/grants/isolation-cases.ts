import { createGrant } from '@muster/core/grants'
import { createNodeGroup } from '@muster/core/groups'
import { defineIsolation, EMPTY_PAGE, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ t, tenant }) => {
    const userId = tenant.viewer.actor.id!
    const member = await t.runtime.db.query.members.findFirst({ where: { tenantId: tenant.tenant.id, userId } })
    const group = await createNodeGroup(tenant.operator, { name: 'their_granted_group' })
    return { Grant: await createGrant(tenant.owner, { memberId: member!.id, role: 'operator', nodeGroupId: group.id }) }
  },
  cases: {
    'Query.grants': { query: () => '{ it: grants { edges { node { id } } } }', answer: { it: EMPTY_PAGE } },
    'Mutation.createGrant': {
      query: ({ theirs }) =>
        `mutation { it: createGrant(input: { memberId: "${theirs.Member}", role: "operator", nodeGroupId: "${theirs.NodeGroup}", jobTemplateIds: ["${theirs.JobTemplate}"], credentialIds: ["${theirs.Credential}"] }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deleteGrant': {
      query: ({ theirs }) => `mutation { it: deleteGrant(input: { id: "${theirs.Grant}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
