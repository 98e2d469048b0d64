import { defineRelationsPart } from 'drizzle-orm'
import { nodeGroups } from '../groups/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, nodeGroups }, (r) => ({
  bootProfiles: {
    parent: r.one.bootProfiles({ from: r.bootProfiles.parentId, to: r.bootProfiles.id, alias: 'bootParent' }),
    children: r.many.bootProfiles({ from: r.bootProfiles.id, to: r.bootProfiles.parentId, alias: 'bootParent' }),
    versions: r.many.bootProfileVersions({ from: r.bootProfiles.id, to: r.bootProfileVersions.profileId }),
    assignments: r.many.bootAssignments({ from: r.bootProfiles.id, to: r.bootAssignments.profileId }),
  },
  bootProfileVersions: {
    profile: r.one.bootProfiles({ from: r.bootProfileVersions.profileId, to: r.bootProfiles.id, optional: false }),
  },
  bootAssignments: {
    profile: r.one.bootProfiles({ from: r.bootAssignments.profileId, to: r.bootProfiles.id, optional: false }),
    node: r.one.computeNodes({ from: r.bootAssignments.nodeId, to: r.computeNodes.id }),
    group: r.one.nodeGroups({ from: r.bootAssignments.groupId, to: r.nodeGroups.id }),
  },
}))
