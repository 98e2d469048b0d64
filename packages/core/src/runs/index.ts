export { jobArtifactAudit, jobRunAudit, retentionAudit } from './audit-actions.ts'
export { jobRunCancelRequested, jobRunChanged, jobRunEventsAppended } from './change-events.ts'
export { appendJobRunEvents, ClaimLost, type NewJobRunEvent } from './events/append-job-run-events.ts'
export { bytesBefore, eventBytes, firstBytes } from './events/event-bytes.ts'
export { followJobRunEvents, type JobRunEventPage } from './events/follow-job-run-events.ts'
export { LOG_FORMATS, type LogFormat, logUnavailableReason, readJobRunLog } from './events/read-job-run-log.ts'
export { assertLaunchable, type LaunchRequest } from './lifecycle/assert-launchable.ts'
export { assertRunnable, blockedNodes } from './lifecycle/assert-runnable.ts'
export { cancelJobRun } from './lifecycle/cancel-job-run.ts'
export { ansibleArguments } from './lifecycle/command-line.ts'
export type { End } from './lifecycle/end-job-runs.ts'
export { endLostJobRuns } from './lifecycle/end-lost-job-runs.ts'
export { finishJobRun, type StoredArtifact } from './lifecycle/finish-job-run.ts'
export { type PreviewHost, previewInventory, previewRun, type RunPreview } from './lifecycle/preview-run.ts'
export { recordGitCommit } from './lifecycle/record-git-commit.ts'
export { type HostState, renewClaim } from './lifecycle/renew-claim.ts'
export { RETRIES, RetryJobRunInput, retryJobRun } from './lifecycle/retry-job-run.ts'
export { RunJobInput, RunSettings, runJob, runJobOnUsableNodes } from './lifecycle/run-job.ts'
export { jobRunPermissions, retentionPermissions } from './permissions.ts'
export { cancelBlockedReason, nodeBlockedReason, retryBlockedReason } from './policy.ts'
export { jobRunQueue } from './queues.ts'
export { applyRetention, removeAllRuns } from './results/apply-retention.ts'
export { compareWithPrevious, type RunComparison } from './results/compare-with-previous.ts'
export { countFailureSignatures, type FailureSignature, failureSignatures } from './results/failure-signatures.ts'
export { type MatrixCell, type MatrixTask, runMatrices } from './results/run-matrices.ts'
export { SetRetentionInput, setRetention } from './results/set-retention.ts'
export { jobRunSettings } from './settings.ts'
export { advanceSlurmRun } from './slurm/advance-slurm-run.ts'
export { findNodesOfRuns } from './slurm/find-nodes-of-runs.ts'
export { findUnfinishedSlurmRuns } from './slurm/find-unfinished-slurm-runs.ts'
export { type SlurmRun, SlurmRunInput, type SlurmRunOptions } from './slurm/options.ts'
export type { PlannedBatch, SlurmRunPlan } from './slurm/plan-slurm-run.ts'
export {
  type EndCause,
  type HostResult,
  JOB_RUN_EVENT_KINDS,
  JOB_RUN_STATUSES,
  type JobArtifact,
  type JobRun,
  type JobRunBatch,
  type JobRunEvent,
  type JobRunEventKind,
  type JobRunHost,
  type JobRunSlurmNode,
  type JobRunStatus,
  SLURM_BATCH_PHASES,
  type SlurmBatchPhase,
  type SlurmNodeOutcome,
} from './tables.ts'
