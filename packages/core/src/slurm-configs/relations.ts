import { defineRelationsPart } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, slurmClusters }, (r) => ({
  slurmConfigSnippets: {},
  slurmConfigVersions: {
    cluster: r.one.slurmClusters({ from: r.slurmConfigVersions.clusterId, to: r.slurmClusters.id, optional: false }),
  },
}))
