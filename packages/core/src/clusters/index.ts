export { allocatedMemoryBytes, cpuEfficiency, OUT_OF_SERVICE, PRIORITY_FACTORS } from '@muster/slurm'
export { AddSlurmClusterInput, addSlurmCluster } from './add-slurm-cluster.ts'
export { slurmClusterAudit, slurmControllerAudit, slurmNodeAudit } from './audit-actions.ts'
export {
  authorizeCluster,
  authorizeTargets,
  clusterDeniedEverywhereReason,
  clusterDeniedReason,
  deniedTargets,
  type PartitionedTarget,
} from './authorize-cluster.ts'
export { slurmClusterChanged, slurmClusterTestChanged, slurmLookupChanged } from './change-events.ts'
export { digestReports, readStoredReports } from './changed-reports.ts'
export { checkSlurmClusters, type SlurmControllerEvidence, type SlurmNodesEvidence } from './check-slurm-clusters.ts'
export { claimSlurmRefresh, releaseSlurmRefresh, renewSlurmRefresh } from './claim-slurm-refresh.ts'
export { estimateSlurmStarts, type SlurmStartEstimate, SlurmStartInput } from './estimates/estimate-slurm-starts.ts'
export { failStalledSlurmTests } from './fail-stalled-slurm-tests.ts'
export { CLUSTER_FIELDS, ProgramFolder } from './fields.ts'
export { lockSlurmCluster } from './lock-cluster.ts'
export { failStalledSlurmLookups, pruneSlurmLookups } from './lookups/fail-stalled-slurm-lookups.ts'
export { formatLookupCursor, LookUpSlurmJobsInput, lookUpSlurmJobs } from './lookups/look-up-slurm-jobs.ts'
export { LookUpSlurmPriorityInput, lookUpSlurmPriority } from './lookups/look-up-slurm-priority.ts'
export { findWaitingSlurmLookup, finishSlurmLookup, startSlurmLookup } from './lookups/record-slurm-lookup.ts'
export { MatchSlurmNodeInput, matchSlurmNode } from './matching/match-slurm-node.ts'
export { type NodeDifference, nodeDifferences } from './matching/node-differences.ts'
export { OnboardSlurmNodesInput, onboardSlurmNodes } from './matching/onboard-slurm-nodes.ts'
export { slurmCheckMessages, slurmMessages, slurmOperationMessages } from './messages/index.ts'
export { slurmClusterPermissions } from './permissions.ts'
export { refreshClusterBlockedReason, slurmrestdProblem, updateClusterBlockedReason } from './policy.ts'
export { slurmClusterTestQueue, slurmLookupQueue, slurmRefreshQueue } from './queues.ts'
export { type ControllerLoginState, readControllerLogin } from './read-controller-login.ts'
export { recordControllerConnection } from './record-controller-connection.ts'
export { type ClusterState, type RefreshOutcome, recordSlurmRefresh } from './record-slurm-refresh.ts'
export { finishSlurmTest, recordSlurmTestQueries, startSlurmTest } from './record-slurm-test.ts'
export { refreshSlurmCluster, requestRefresh } from './refresh-slurm-cluster.ts'
export { removeSlurmCluster } from './remove-slurm-cluster.ts'
export { requestDueRefreshes } from './request-due-refreshes.ts'
export { SALT_FIELDS, saltColumns, WITHOUT_SALT } from './salt.ts'
export { SLURMRESTD_FIELDS, slurmrestdColumns } from './slurmrestd.ts'
export {
  CLUSTER_KINDS,
  CLUSTER_STATES,
  type ClusterCondition,
  type ClusterIdentity,
  type ClusterInstall,
  type ClusterKind,
  isCurrentCluster,
  type QueryReport,
  type SaltColumns,
  type SlurmCluster,
  type SlurmClusterTest,
  type SlurmJobRow,
  type SlurmLookup,
  type SlurmLookupCursor,
  type SlurmLookupRequest,
  type SlurmLookupResult,
  type SlurmNodeRow,
  type SlurmPartitionRow,
  type SlurmrestdColumns,
  slurmClusters,
  slurmClusterTests,
  slurmJobs,
  slurmLookups,
  slurmNodes,
  slurmPartitions,
} from './tables.ts'
export { TestSlurmControllerInput, testSlurmController } from './test-slurm-controller.ts'
export { UpdateSlurmClusterInput, updateSlurmCluster } from './update-slurm-cluster.ts'
