import { commandGroup } from '../../command.ts'
import { nodeBootProfile } from '../boot-profiles/node.ts'
import { nodeApprove } from '../connections/approve.ts'
import { nodeTest } from '../connections/test.ts'
import { nodeDiff } from '../discoveries/diff.ts'
import { nodeDiscover } from '../discoveries/discover.ts'
import { nodeFacts } from '../discoveries/facts.ts'
import { nodeAdd } from './add.ts'
import { nodeDecommission } from './decommission.ts'
import { nodeGet } from './get.ts'
import { nodeList } from './list.ts'
import { nodeMaintenance } from './maintenance.ts'
import { nodePurge } from './purge.ts'
import { nodeRecommission } from './recommission.ts'
import { nodeUnlock } from './unlock.ts'
import { nodeUpdate } from './update.ts'

export const node = () =>
  commandGroup('node', [
    nodeList(),
    nodeGet(),
    nodeAdd(),
    nodeUpdate(),
    nodeTest(),
    nodeApprove(),
    nodeDiscover(),
    nodeFacts(),
    nodeDiff(),
    nodeBootProfile(),
    nodeMaintenance(),
    nodeDecommission(),
    nodeRecommission(),
    nodePurge(),
    nodeUnlock(),
  ])
