export { SLURM_VERBS, type SlurmVerb, type TargetKind, targetKind } from '@muster/slurm/commands'
export { slurmActionAudit } from './audit-actions.ts'
export type { DeniedTarget } from './authorize-action.ts'
export { slurmActionChanged } from './change-events.ts'
export {
  type ClaimedSlurmAction,
  claimSlurmAction,
  finishSlurmAction,
  recordSlurmCommand,
  recordSlurmResults,
  renewSlurmAction,
  type SlurmItemOutcome,
} from './execution.ts'
export { markedReason, slurmReason } from './input.ts'
export { insertSlurmAction } from './insert-slurm-action.ts'
export { slurmNodePermissions } from './permissions.ts'
export { slurmActionBlockedReason, slurmTargetBlockedReason } from './policy.ts'
export { previewSlurmAction, type SlurmActionPreview } from './preview-slurm-action.ts'
export { pruneSlurmActions } from './prune-slurm-actions.ts'
export { slurmActionQueue } from './queues.ts'
export { reassignSlurmActions } from './reassign-slurm-actions.ts'
export { startSlurmAction } from './start-slurm-action.ts'
export {
  SLURM_ACTION_STATUSES,
  SLURM_ITEM_RESULTS,
  type SlurmActionItem,
  type SlurmActionRow,
  type SlurmItemResult,
  slurmActionItems,
  slurmActions,
} from './tables.ts'
export type { SlurmTarget } from './targets.ts'
