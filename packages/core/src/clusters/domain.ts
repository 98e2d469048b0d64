import { defineDomain } from '../kernel/domain.ts'
import { slurmClusterAudit, slurmControllerAudit, slurmNodeAudit } from './audit-actions.ts'
import { slurmClusterChanged, slurmClusterTestChanged, slurmLookupChanged } from './change-events.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusterTestQueue, slurmLookupQueue, slurmRefreshQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const clustersDomain = defineDomain({
  name: 'clusters',
  permissions: { slurmClusterPermissions },
  auditActions: { slurmClusterAudit, slurmControllerAudit, slurmNodeAudit },
  changeEvents: [slurmClusterChanged, slurmClusterTestChanged, slurmLookupChanged],
  queues: [slurmRefreshQueue, slurmClusterTestQueue, slurmLookupQueue],
  tables,
  relations,
  graphqlIds: {
    SlurmCluster: tables.slurmClusters,
    SlurmNode: tables.slurmNodes,
    SlurmPartition: tables.slurmPartitions,
    SlurmJob: tables.slurmJobs,
    SlurmClusterTest: tables.slurmClusterTests,
    SlurmLookup: tables.slurmLookups,
  },
})
