export { slurmOperationAudit } from './audit-actions.ts'
export { cancelSlurmOperation } from './cancel-slurm-operation.ts'
export { slurmOperationChanged } from './change-events.ts'
export {
  type ClaimedSlurmOperation,
  claimSlurmOperation,
  finishSlurmOperation,
  recordSlurmOperationNodes,
  recordSlurmSaltJob,
  recordSlurmStep,
  releaseSlurmOperation,
  renewSlurmOperation,
  type SlurmOperationClaim,
  type SlurmOperationNodeProgress,
  type SlurmScaleOutEvidence,
  type SlurmStepProgress,
} from './execution.ts'
export { insertOperation, lockCluster, type NewSlurmOperation } from './insert-operation.ts'
export { slurmOperationPermissions } from './permissions.ts'
export { slurmOperationQueue } from './queues.ts'
export { reassignSlurmOperations } from './reassign-slurm-operations.ts'
export {
  SLURM_OPERATION_KINDS,
  SLURM_OPERATION_STATUSES,
  type SlurmNodeCheck,
  type SlurmOperation,
  type SlurmOperationKind,
  type SlurmOperationNode,
  type SlurmOperationStatus,
  type SlurmOperationStep,
  type SlurmRolloutProgress,
  type SlurmSaltJob,
  slurmOperationNodes,
  slurmOperations,
} from './tables.ts'
