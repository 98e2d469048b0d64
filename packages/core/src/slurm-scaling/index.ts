export { formatGres, gresTotals } from '@muster/slurm/config'
export { slurmReadinessAudit } from './audit-actions.ts'
export type { ScaleCandidate } from './candidates.ts'
export { slurmReadinessCheckChanged } from './change-events.ts'
export { CheckSlurmReadinessInput, checkSlurmReadiness } from './check-slurm-readiness.ts'
export { type CreatePlan, CreateSlurmClusterInput, createSlurmCluster } from './create-slurm-cluster.ts'
export { failStalledReadinessChecks, reassignReadinessChecks } from './fail-stalled-readiness-checks.ts'
export { slurmScalePermissions } from './permissions.ts'
export { scaleBlockedReason } from './policy.ts'
export {
  leaveClusterGroup,
  prepareClusterGroup,
  prepareDatabasePassword,
  removeDatabasePassword,
} from './prepare-cluster-group.ts'
export { slurmReadinessQueue } from './queues.ts'
export { recordSlurmReadiness, type SlurmReadinessProgress, startSlurmReadinessCheck } from './record-slurm-readiness.ts'
export { releaseSlurmCluster } from './release-slurm-cluster.ts'
export {
  PreviewSlurmScaleInInput,
  previewSlurmScaleIn,
  type ScaleInPlan,
  ScaleInSlurmClusterInput,
  type ScaleInTarget,
  type SlurmScaleInPreview,
  scaleInSlurmCluster,
} from './scale-in.ts'
export {
  PreviewSlurmScaleOutInput,
  previewSlurmScaleOut,
  type ScaleOutPlan,
  ScaleOutSlurmClusterInput,
  type SlurmScaleOutPreview,
  scaleOutSlurmCluster,
} from './scale-out.ts'
export { forgetClusterConfig, operationConfig, readRolledOutConfig, storeScaledConfig } from './store-scaled-config.ts'
export { type SlurmReadinessCheck, type SlurmReadinessNode, slurmReadinessChecks } from './tables.ts'
