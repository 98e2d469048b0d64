export { slurmPowerAudit } from './audit-actions.ts'
export { excludeWithoutBmc } from './exclude-nodes.ts'
export { findPowerClient, type PowerClient } from './find-power-client.ts'
export { slurmPowerPermissions } from './permissions.ts'
export type { PowerSavingPlan } from './plan-power-saving.ts'
export { setPowerSavingBlockedReason } from './policy.ts'
export { powerOnSuspended } from './power-on-suspended.ts'
export { completePowerSaving, preparePowerSaving, removePowerSaving } from './power-token.ts'
export { PreviewSlurmPowerSavingInput, previewSlurmPowerSaving } from './preview-slurm-power-saving.ts'
export { RequestSlurmPowerInput, requestSlurmPower, type SlurmPowerAnswer } from './request-slurm-power.ts'
export { type PowerSavingOperation, SetSlurmPowerSavingInput, setSlurmPowerSaving } from './set-slurm-power-saving.ts'
export {
  type PowerSavingSettings,
  SLURM_POWER_VERBS,
  type SlurmPowerRequest,
  type SlurmPowerSaving,
  type SlurmPowerVerb,
  slurmPowerRequests,
  slurmPowerSavings,
} from './tables.ts'
