import { defineRelationsPart } from 'drizzle-orm'
import { nodeGroups } from '../groups/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, nodeGroups }, (r) => ({
  variableScopes: {
    group: r.one.nodeGroups({ from: r.variableScopes.groupId, to: r.nodeGroups.id }),
    node: r.one.computeNodes({ from: r.variableScopes.nodeId, to: r.computeNodes.id }),
    versions: r.many.variableVersions({ from: r.variableScopes.id, to: r.variableVersions.scopeId }),
  },
  variableSecrets: {},
  variableVersions: {},
}))
