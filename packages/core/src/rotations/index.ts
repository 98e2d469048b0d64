export { advanceCredentialRotation, type RotationWork } from './advance-credential-rotation.ts'
export { cancelCredentialRotation } from './cancel-credential-rotation.ts'
export { credentialRotationChanged } from './change-events.ts'
export { CLAIM_LIFETIME_S, claimCredentialRotation } from './claim-credential-rotation.ts'
export { completeCredentialRotation } from './complete-credential-rotation.ts'
export { findRotationFacts, type RotationFacts } from './find-rotation-facts.ts'
export { isSecretChanging } from './is-secret-changing.ts'
export { rotationPermissions } from './permissions.ts'
export { cancelBlockedReason, completeBlockedReason, resumeBlockedReason, rotateBlockedReason } from './policy.ts'
export { credentialRotationQueue } from './queues.ts'
export { reassignCredentialRotations } from './reassign-credential-rotations.ts'
export { type RotationStep, recordRotationHost } from './record-rotation-host.ts'
export { resumeCredentialRotation } from './resume-credential-rotation.ts'
export { RotateCredentialInput, rotateCredential } from './rotate-credential.ts'
export { startRotationStep } from './start-rotation-step.ts'
export {
  type CredentialRotation,
  type CredentialRotationHost,
  credentialRotationHosts,
  credentialRotations,
  ROTATION_HOST_STATUSES,
  ROTATION_STATUSES,
  type RotationSecrets,
} from './tables.ts'
