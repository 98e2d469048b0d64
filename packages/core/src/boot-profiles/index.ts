export {
  AssignBootProfileInput,
  assignBootProfile,
  UnassignBootProfileInput,
  unassignBootProfile,
} from './assign-boot-profile.ts'
export { bootProfileAudit } from './audit-actions.ts'
export { bootProfileChanged } from './change-events.ts'
export { type ContentChange, contentChanges } from './changes.ts'
export { CreateBootProfileInput, createBootProfile } from './create-boot-profile.ts'
export { assignedTargets, deleteBootProfile } from './delete-boot-profile.ts'
export {
  type BootCandidate,
  type EffectiveBootProfile,
  effectiveBootProfiles,
  unknownBootProfile,
} from './effective-boot-profiles.ts'
export { BOOT_PROFILE_FIELDS, BootArchInput, BootProfileName, bootProfileContent } from './fields.ts'
export { bootProfilePermissions } from './permissions.ts'
export {
  assignBootProfileBlockedReason,
  deleteBootProfileBlockedReason,
  writeBootProfileBlockedReason,
} from './policy.ts'
export {
  type OverriddenValue,
  type ProfileRef,
  type ResolvedBootProfile,
  type ResolvedProfileCache,
  resolveBootProfiles,
  type Sourced,
} from './resolve.ts'
export { RestoreBootProfileInput, restoreBootProfile } from './restore-boot-profile.ts'
export {
  BOOT_ARCHES,
  BOOT_TARGETS,
  type BootArch,
  type BootAssignment,
  type BootImage,
  type BootProfile,
  type BootProfileContent,
  type BootProfileVersion,
  type BootTarget,
  bootAssignments,
  bootProfiles,
  bootProfileVersions,
} from './tables.ts'
export { UpdateBootProfileInput, updateBootProfile } from './update-boot-profile.ts'
