export { appendJobRunEvents, ClaimLost, type NewJobRunEvent } from './append-job-run-events.ts'
export { cancelJobRun } from './cancel-job-run.ts'
export { type Claim, claimJobRun } from './claim-job-run.ts'
export { ansibleArguments } from './command-line.ts'
export type { End } from './end-job-runs.ts'
export { endLostJobRuns } from './end-lost-job-runs.ts'
export { checkExtraVars, whyNotVariable } from './extra-vars.ts'
export { finishJobRun } from './finish-job-run.ts'
export { followJobRunEvents, type JobRunEventPage } from './follow-job-run-events.ts'
export { whyNotCancel, whyNotTarget } from './policy.ts'
export { RunJobInput, runJob } from './run-job.ts'
export { BUILT_IN_TEMPLATES, syncBuiltInTemplates } from './sync-built-in-templates.ts'
export {
  type EndedBy,
  type HostResult,
  JOB_RUN_STATUSES,
  type JobRun,
  type JobRunEvent,
  type JobRunHost,
  type JobRunStatus,
  type JobTemplate,
  type Vars,
} from './tables.ts'
export { type HostState, touchJobRun } from './touch-job-run.ts'
