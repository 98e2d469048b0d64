export { addAccountingCluster, listAccountingClusters } from './accounting-commands.ts'
export {
  actionArguments,
  commandGroups,
  isRepeatable,
  JOB_VERBS,
  NODE_VERBS,
  RESERVATION_VERBS,
  removesTarget,
  SLURM_VERBS,
  type SlurmAction,
  type SlurmVerb,
  type TargetKind,
  targetKind,
} from './action.ts'
export { type SlurmLists, stateFinder, type TargetState } from './evaluate.ts'
export { isJobHeld, jobsOfTarget } from './job-targets.ts'
export { PARTITION_STATES, type PartitionState } from './partition-commands.ts'
export { refusalHint } from './refusal-hint.ts'
export { createReservation, deleteReservation, RESERVATION_FLAGS, type ReservationFlag } from './reservation-commands.ts'
export { testJob } from './test-job.ts'
export { InvalidSlurmWord, MAX_REASON, type SlurmWord, slurmWordProblem } from './words.ts'
