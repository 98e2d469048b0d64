import { defineRelationsPart } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, slurmClusters }, (r) => ({
  slurmActions: {
    cluster: r.one.slurmClusters({ from: r.slurmActions.clusterId, to: r.slurmClusters.id, optional: false }),
    items: r.many.slurmActionItems({ from: r.slurmActions.id, to: r.slurmActionItems.actionId }),
  },
  slurmActionItems: {
    slurmAction: r.one.slurmActions({ from: r.slurmActionItems.actionId, to: r.slurmActions.id, optional: false }),
  },
}))
