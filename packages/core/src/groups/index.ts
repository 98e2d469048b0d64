export { nodeGroupAudit } from './audit-actions.ts'
export { authorizeGroup, authorizeNodes, watchGroups } from './authorize-nodes.ts'
export { CreateNodeGroupInput, createNodeGroup } from './create-node-group.ts'
export { deleteNodeGroup } from './delete-node-group.ts'
export { GROUP_FIELDS } from './fields.ts'
export {
  countNodesOfGroups,
  directGroupIds,
  type GroupTree,
  groupsOfNodes,
  isInGroup,
  matchesNodeQuery,
  readGroupTree,
} from './group-tree.ts'
export { managedClusterOf, managedGroupReasons } from './managed-cluster.ts'
export { groupPermissions } from './permissions.ts'
export { deleteBlockedReason, renameBlockedReason, setMembersBlockedReason, updateBlockedReason } from './policy.ts'
export { SetNodeGroupMembersInput, setNodeGroupMembers } from './set-node-group-members.ts'
export { GROUP_KINDS, type GroupKind, type NodeGroup, nodeGroupMembers, nodeGroups } from './tables.ts'
export { UpdateNodeGroupInput, updateNodeGroup } from './update-node-group.ts'
