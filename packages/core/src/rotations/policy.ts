import type { Credential } from '../credentials/tables.ts'
import type { RotationFacts } from './find-rotation-facts.ts'
import type { CredentialRotation } from './tables.ts'

/** Why the secret of `credential` cannot be rotated; null when it can. */
export function rotateBlockedReason(
  credential: Pick<Credential, 'name' | 'kind' | 'encrypted'>,
  { nodes, isRotating, sudoNode }: RotationFacts,
): string | null {
  const { name, kind, encrypted } = credential
  if (kind !== 'SSH_KEY' && kind !== 'SSH_PASSWORD')
    return `The credential ${name} has the kind ${kind}; only the kinds SSH_KEY and SSH_PASSWORD can be rotated. Change its secret where it is checked, then update the credential.`
  if (!encrypted[kind === 'SSH_KEY' ? 'privateKey' : 'password'])
    return `The secret of ${name} is in a secret store, which Muster only reads. Rotate it there.`
  if (isRotating) return `A rotation of ${name} is in progress. Wait for its end, or cancel it.`
  // sudo asks for the password of the login user, which would change.
  if (kind === 'SSH_PASSWORD' && sudoNode)
    return `sudo on ${sudoNode} has a password, usually the one of ${name}. Remove the BECOME credential from the nodes of ${name} (\`muster node update ${sudoNode} --become ''\`), rotate, and add one with the new password.`
  return nodes === 0 ? `No node uses ${name}. Update its secret instead.` : null
}

/** Why a rotation cannot be resumed; null when it can. */
export const resumeBlockedReason = (rotation: Pick<CredentialRotation, 'name' | 'status'>): string | null =>
  rotation.status === 'PAUSED'
    ? null
    : `The rotation of ${rotation.name} is ${rotation.status}; only a PAUSED one can be resumed.`

/** Why a rotation cannot be completed without its failed nodes; null when it can. */
export const completeBlockedReason = (rotation: Pick<CredentialRotation, 'name' | 'status'>): string | null =>
  rotation.status === 'PAUSED'
    ? null
    : `The rotation of ${rotation.name} is ${rotation.status}; only a PAUSED one can be completed.`

/** Why a rotation cannot be canceled; null when it can. */
export const cancelBlockedReason = (rotation: Pick<CredentialRotation, 'name' | 'status' | 'switchedAt'>): string | null =>
  rotation.switchedAt
    ? `The credential ${rotation.name} already has its new secret. Rotate it again instead.`
    : rotation.status === 'RUNNING' || rotation.status === 'PAUSED'
      ? null
      : `The rotation of ${rotation.name} is ${rotation.status}.`
