import { defineRelationsPart } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import { variableScopes } from '../variables/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, slurmClusters, variableScopes }, (r) => ({
  nodeGroupMembers: {},
  nodeGroups: {
    variables: r.one.variableScopes({ from: r.nodeGroups.id, to: r.variableScopes.groupId }),
    slurmClusters: r.many.slurmClusters({ from: r.nodeGroups.id, to: r.slurmClusters.nodeGroupId }),
    parent: r.one.nodeGroups({ from: r.nodeGroups.parentId, to: r.nodeGroups.id, alias: 'parent' }),
    children: r.many.nodeGroups({ from: r.nodeGroups.id, to: r.nodeGroups.parentId, alias: 'parent' }),
  },
}))
