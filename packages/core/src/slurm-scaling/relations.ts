import { defineRelationsPart } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, slurmClusters }, (r) => ({
  slurmReadinessChecks: {
    cluster: r.one.slurmClusters({ from: r.slurmReadinessChecks.clusterId, to: r.slurmClusters.id }),
  },
}))
