export { queueAudit } from './audit-actions.ts'
export { nodesFreed, queueChanged } from './change-events.ts'
export { type Claim, claimJobRun } from './claim-job-run.ts'
export { claimNextJobRun } from './claim-next-job-run.ts'
export {
  type Blocker,
  blockersOf,
  enqueueForLocks,
  locksOf,
  type NodeLock,
  releaseLocks,
  runsAtNodes,
  WORKER_LOST_AFTER_SECONDS,
  wakeWaitingJobRuns,
} from './node-locks.ts'
export { PauseQueueInput, pauseQueue } from './pause-queue.ts'
export { queuePermissions } from './permissions.ts'
export { releaseLockBlockedReason } from './policy.ts'
export { ReleaseNodeLocksInput, releaseNodeLocks } from './release-node-locks.ts'
export { resumeQueue } from './resume-queue.ts'
export { SetMaxConcurrentRunsInput, setMaxConcurrentRuns } from './set-max-concurrent-runs.ts'
