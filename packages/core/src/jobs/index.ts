export { appendJobRunEvents, ClaimLost, type NewJobRunEvent } from './append-job-run-events.ts'
export { applyRetention } from './apply-retention.ts'
export { ArchiveJobTemplateInput, archiveJobTemplate } from './archive-job-template.ts'
export { BUILT_IN_TEMPLATES } from './built-in-templates.ts'
export { cancelJobRun } from './cancel-job-run.ts'
export { type Claim, claimJobRun } from './claim-job-run.ts'
export { claimNextJobRun } from './claim-next-job-run.ts'
export { ansibleArguments } from './command-line.ts'
export { compareWithPrevious, type RunComparison } from './compare-runs.ts'
export { CreateJobTemplateInput, createJobTemplate } from './create-job-template.ts'
export { bundleUsers, deletePlaybookBundle } from './delete-playbook-bundle.ts'
export type { End } from './end-job-runs.ts'
export { endLostJobRuns } from './end-lost-job-runs.ts'
export { checkExtraVars, whyNotVariable } from './extra-vars.ts'
export { type FailureSignature, failureSignatures } from './failure-signatures.ts'
export { finishJobRun, type StoredArtifact } from './finish-job-run.ts'
export { followJobRunEvents, type JobRunEventPage } from './follow-job-run-events.ts'
export { locksOf, type NodeLock, type Obstacle, obstaclesOf, wakeWaitingJobRuns } from './node-locks.ts'
export { PauseQueueInput, pauseQueue } from './pause-queue.ts'
export { whyNotCancel, whyNotDeleteBundle, whyNotEditTemplate, whyNotReleaseLock, whyNotRetry, whyNotTarget } from './policy.ts'
export { type PreviewHost, previewInventory, previewRun, type RunPreview } from './preview-run.ts'
export { LOG_FORMATS, type LogFormat, readJobRunLog, whyNoLog } from './read-job-run-log.ts'
export { readPlaybookBundle } from './read-playbook-bundle.ts'
export { recordGitCommit } from './record-git-commit.ts'
export { refuseUnfit, unfitNodes } from './refuse-unfit.ts'
export { ReleaseNodeLocksInput, releaseNodeLocks } from './release-node-locks.ts'
export { RestoreJobTemplateInput, restoreJobTemplate } from './restore-job-template.ts'
export { resumeQueue } from './resume-queue.ts'
export { RETRIES, RetryJobRunInput, retryJobRun } from './retry-job-run.ts'
export { RunJobInput, runJob } from './run-job.ts'
export { type MatrixCell, type MatrixTask, runMatrix } from './run-matrix.ts'
export { batchesOf } from './serial.ts'
export { SetRetentionInput, setRetention } from './set-retention.ts'
export { SetRunsAtOnceInput, setRunsAtOnce } from './set-runs-at-once.ts'
export { whyNotInside } from './sources/inside.ts'
export { type UnpackedFile, unpackBundle } from './sources/unpack-bundle.ts'
export { syncBuiltInTemplates } from './sync-built-in-templates.ts'
export {
  type BundleFile,
  type EndedBy,
  type HostResult,
  JOB_RUN_STATUSES,
  type JobArtifact,
  type JobRun,
  type JobRunEvent,
  type JobRunHost,
  type JobRunStatus,
  type JobTemplate,
  type JobTemplateVersion,
  PLAYBOOK_SOURCES,
  type PlaybookBundle,
  type PlaybookSource,
  type Vars,
} from './tables.ts'
export { type HostState, touchJobRun } from './touch-job-run.ts'
export { UpdateJobTemplateInput, updateJobTemplate } from './update-job-template.ts'
export { UploadPlaybookBundleInput, uploadPlaybookBundle } from './upload-playbook-bundle.ts'
