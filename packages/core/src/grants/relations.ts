import { defineRelationsPart } from 'drizzle-orm'
import { members } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, members, nodeGroups, slurmClusters }, (r) => ({
  grants: {
    member: r.one.members({ from: r.grants.memberId, to: r.members.id, optional: false }),
    group: r.one.nodeGroups({ from: r.grants.groupId, to: r.nodeGroups.id }),
    cluster: r.one.slurmClusters({ from: r.grants.clusterId, to: r.slurmClusters.id }),
  },
}))
