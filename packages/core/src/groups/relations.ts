import { defineRelationsPart } from 'drizzle-orm'
import { bootAssignments } from '../boot-profiles/tables.ts'
import { bootRules } from '../boot-service/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { variableScopes } from '../variables/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, bootAssignments, bootRules, slurmClusters, variableScopes }, (r) => ({
  nodeGroupMembers: {},
  nodeGroups: {
    variables: r.one.variableScopes({ from: r.nodeGroups.id, to: r.variableScopes.groupId }),
    bootAssignments: r.many.bootAssignments({ from: r.nodeGroups.id, to: r.bootAssignments.groupId }),
    bootRules: r.many.bootRules({ from: r.nodeGroups.id, to: r.bootRules.groupId }),
    slurmClusters: r.many.slurmClusters({ from: r.nodeGroups.id, to: r.slurmClusters.nodeGroupId }),
    parent: r.one.nodeGroups({ from: r.nodeGroups.parentId, to: r.nodeGroups.id, alias: 'parent' }),
    children: r.many.nodeGroups({ from: r.nodeGroups.id, to: r.nodeGroups.parentId, alias: 'parent' }),
  },
}))
