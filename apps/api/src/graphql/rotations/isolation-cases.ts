import { rotateCredential } from '@muster/core/rotations'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

const onRotation = (mutation: string) => ({
  query: ({ theirs }: { theirs: Record<string, string> }) =>
    `mutation { it: ${mutation}(input: { id: "${theirs.CredentialRotation}" }) { __typename } }`,
  answer: { it: NOT_FOUND },
})

export const isolation = defineIsolation({
  objects: async ({ t: { given }, tenant }) => {
    const { id } = await given.credential(tenant.admin, 'SSH_PASSWORD')
    await given.fleet(tenant.operator, { prefix: 'rotated', with: { credentialId: id } })
    return { CredentialRotation: await rotateCredential(tenant.admin, { id }) }
  },
  cases: {
    'Mutation.rotateCredential': {
      query: ({ theirs }) => `mutation { it: rotateCredential(input: { id: "${theirs.Credential}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.resumeCredentialRotation': onRotation('resumeCredentialRotation'),
    'Mutation.completeCredentialRotation': onRotation('completeCredentialRotation'),
    'Mutation.cancelCredentialRotation': onRotation('cancelCredentialRotation'),
    'Subscription.credentialRotationUpdated': {
      query: ({ theirs }) => `subscription { credentialRotationUpdated(id: "${theirs.CredentialRotation}") { id } }`,
    },
  },
})
