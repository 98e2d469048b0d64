import { defineRelationsPart } from 'drizzle-orm'
import { bootProfiles } from '../boot-profiles/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { computeNodes } from '../nodes/tables.ts'
import * as tables from './tables.ts'

export const relations = defineRelationsPart({ ...tables, computeNodes, nodeGroups, bootProfiles }, (r) => ({
  bootAttempts: {
    node: r.one.computeNodes({ from: r.bootAttempts.nodeId, to: r.computeNodes.id, optional: false }),
    stageTimes: r.many.bootStageTimes({ from: r.bootAttempts.id, to: r.bootStageTimes.attemptId }),
    fetches: r.many.bootFetches({ from: r.bootAttempts.id, to: r.bootFetches.attemptId }),
  },
  bootFetches: {
    node: r.one.computeNodes({ from: r.bootFetches.nodeId, to: r.computeNodes.id, optional: false }),
    attempt: r.one.bootAttempts({ from: r.bootFetches.attemptId, to: r.bootAttempts.id, optional: false }),
  },
  bootRules: {
    group: r.one.nodeGroups({ from: r.bootRules.groupId, to: r.nodeGroups.id }),
    profile: r.one.bootProfiles({ from: r.bootRules.profileId, to: r.bootProfiles.id }),
  },
  bootStageTimes: {},
  bootTokens: {},
  unknownMachines: { node: r.one.computeNodes({ from: r.unknownMachines.nodeId, to: r.computeNodes.id }) },
}))
