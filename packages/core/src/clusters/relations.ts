import { defineRelationsPart } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import { slurmConfigVersions } from '../slurm-configs/tables.ts'
import { slurmOperations } from '../slurm-operations/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart(
  { ...tables, computeNodes, credentials, slurmConfigVersions, slurmOperations },
  (r) => ({
    slurmClusters: {
      controllerNode: r.one.computeNodes({ from: r.slurmClusters.controllerNodeId, to: r.computeNodes.id, alias: 'controller' }),
      backupNode: r.one.computeNodes({ from: r.slurmClusters.backupNodeId, to: r.computeNodes.id, alias: 'backup' }),
      databaseNode: r.one.computeNodes({ from: r.slurmClusters.databaseNodeId, to: r.computeNodes.id, alias: 'database' }),
      readNode: r.one.computeNodes({ from: r.slurmClusters.readNodeId, to: r.computeNodes.id, alias: 'read' }),
      saltCredential: r.one.credentials({ from: r.slurmClusters.saltCredentialId, to: r.credentials.id, alias: 'salt' }),
      slurmrestdCredential: r.one.credentials({
        from: r.slurmClusters.slurmrestdCredentialId,
        to: r.credentials.id,
        alias: 'slurmrestd',
      }),
      nodes: r.many.slurmNodes({ from: r.slurmClusters.id, to: r.slurmNodes.clusterId }),
      partitions: r.many.slurmPartitions({ from: r.slurmClusters.id, to: r.slurmPartitions.clusterId }),
      jobs: r.many.slurmJobs({ from: r.slurmClusters.id, to: r.slurmJobs.clusterId }),
      configVersions: r.many.slurmConfigVersions({ from: r.slurmClusters.id, to: r.slurmConfigVersions.clusterId }),
      operations: r.many.slurmOperations({ from: r.slurmClusters.id, to: r.slurmOperations.clusterId }),
    },
    slurmNodes: {
      cluster: r.one.slurmClusters({ from: r.slurmNodes.clusterId, to: r.slurmClusters.id, optional: false }),
      node: r.one.computeNodes({ from: r.slurmNodes.nodeId, to: r.computeNodes.id }),
    },
    slurmPartitions: {
      cluster: r.one.slurmClusters({ from: r.slurmPartitions.clusterId, to: r.slurmClusters.id, optional: false }),
    },
    slurmJobs: { cluster: r.one.slurmClusters({ from: r.slurmJobs.clusterId, to: r.slurmClusters.id, optional: false }) },
    slurmLookups: {
      cluster: r.one.slurmClusters({ from: r.slurmLookups.clusterId, to: r.slurmClusters.id, optional: false }),
    },
    slurmClusterTests: {
      node: r.one.computeNodes({ from: r.slurmClusterTests.nodeId, to: r.computeNodes.id, optional: false }),
    },
  }),
)
