export {
  ACCOUNTING_NAME,
  type AccountingQuery,
  accountingArguments,
  type FinishedFilter,
  JOB_ID,
  USER_NAME,
} from './accounting-queries.ts'
export { releaseNumber } from './api-versions.ts'
export { SlurmOutputError } from './errors.ts'
export { type Gres, parseGres, parseMemory, parseTres, type Tres } from './gres.ts'
export { expandHostlist, foldHostlist, foldInOrder, HOSTLIST_MAX, HostlistError, splitHostlist } from './hostlist.ts'
export type { Limit } from './json.ts'
export { hasNodeState, hasReason, isInService, nodeStateWord, OUT_OF_SERVICE } from './node-state.ts'
export {
  allocatedMemoryBytes,
  cpuEfficiency,
  parseJobRecords,
  type SlurmJobRecord,
  type SlurmJobStep,
} from './parse-accounting.ts'
export { parseConfig, parseVersion, type SlurmConfig } from './parse-config.ts'
export { parseControllers, type SlurmController } from './parse-controllers.ts'
export {
  createJobParser,
  FINISHED_STATES,
  hasEnded,
  type JobParser,
  parseJobs,
  SEPARATOR,
  type SlurmJob,
  SQUEUE_FIELDS,
} from './parse-jobs.ts'
export { parseLicenses, type SlurmLicense } from './parse-licenses.ts'
export { parseNodes, type SlurmNode } from './parse-nodes.ts'
export { parsePartitions, type SlurmPartition } from './parse-partitions.ts'
export {
  PRIORITY_FACTORS,
  type PriorityFactor,
  parsePriorities,
  parseShares,
  type SlurmJobPriority,
  type SlurmShare,
} from './parse-priority.ts'
export { parseReservations, type SlurmReservation } from './parse-reservations.ts'
export { parseScheduler, type SlurmScheduler } from './parse-scheduler.ts'
export { isComplete, outputAfter, queryArguments, queryScript, type SlurmQuery } from './queries.ts'
export {
  parseRestJobs,
  parseRestPing,
  type RestPing,
  type RestQuery,
  reportsInRest,
  restPath,
  restVersions,
} from './slurmrestd.ts'
