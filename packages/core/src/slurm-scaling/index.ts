export { formatGres, gresTotals } from '@muster/slurm/config'
export type { ScaleCandidate } from './candidates.ts'
export { type CreatePlan, CreateSlurmClusterInput, createSlurmCluster } from './create-slurm-cluster.ts'
export { slurmScalePermissions } from './permissions.ts'
export { scaleBlockedReason } from './policy.ts'
export { leaveClusterGroup, prepareClusterGroup, prepareDatabasePassword } from './prepare-cluster-group.ts'
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
