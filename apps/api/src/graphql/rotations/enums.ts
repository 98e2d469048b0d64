import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const CredentialRotationStatus = builder.enumType('CredentialRotationStatus', {
  description: 'State of the rotation of a credential.',
  values: same({
    RUNNING: 'Nodes are being changed.',
    PAUSED: 'Nodes failed. Nothing is lost: resume, complete or cancel the rotation.',
    CANCELING: 'The previous secret is being restored.',
    SUCCEEDED: 'Every node accepts only the new secret.',
    PARTIAL: 'The credential has the new secret; nodes failed. They use `leftCredential`, or still accept the previous key.',
    CANCELED: 'The credential kept its previous secret.',
  }),
})

export const CredentialRotationHostStatus = builder.enumType('CredentialRotationHostStatus', {
  description: 'Progress of a rotation on one node.',
  values: same({
    PENDING: 'Not changed yet.',
    INSTALLED: 'A login with the new secret succeeded.',
    DONE: 'The previous secret is no longer accepted.',
    FAILED: 'The last attempt failed; see the error.',
    RESTORED: 'The node has the previous secret again.',
  }),
})
