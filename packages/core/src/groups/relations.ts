import { defineRelationsPart } from 'drizzle-orm'
import { variableScopes } from '../variables/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, variableScopes }, (r) => ({
  nodeGroupMembers: {},
  nodeGroups: {
    variables: r.one.variableScopes({ from: r.nodeGroups.id, to: r.variableScopes.groupId }),
    parent: r.one.nodeGroups({ from: r.nodeGroups.parentId, to: r.nodeGroups.id, alias: 'parent' }),
    children: r.many.nodeGroups({ from: r.nodeGroups.id, to: r.nodeGroups.parentId, alias: 'parent' }),
  },
}))
