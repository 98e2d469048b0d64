import { defineRelationsPart } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, slurmClusters, computeNodes }, (r) => ({
  slurmOperations: {
    cluster: r.one.slurmClusters({ from: r.slurmOperations.clusterId, to: r.slurmClusters.id, optional: false }),
    nodes: r.many.slurmOperationNodes({ from: r.slurmOperations.id, to: r.slurmOperationNodes.operationId }),
  },
  slurmOperationNodes: {
    operation: r.one.slurmOperations({ from: r.slurmOperationNodes.operationId, to: r.slurmOperations.id, optional: false }),
    node: r.one.computeNodes({ from: r.slurmOperationNodes.nodeId, to: r.computeNodes.id }),
  },
}))
