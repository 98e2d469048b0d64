export { AddNodeInput, addNode } from './add-node.ts'
export { Host, hostPort, NodeName, Port, parseHost, parseNodeName, parsePort, parseUser, User } from './address.ts'
export { ApproveHostKeysInput, approveHostKeys } from './approve-host-keys.ts'
export { checkNodeImport } from './check-node-import.ts'
export { decommissionNode } from './decommission-node.ts'
export { diffNodeDiscoveries } from './diff-node-discoveries.ts'
export { DiscoverNodesInput, discoverNodes } from './discover-nodes.ts'
export { endStuckWork } from './end-stuck-work.ts'
export { findNodes } from './find-nodes.ts'
export { finishConnectionTest } from './finish-connection-test.ts'
export { type DiscoveryOutcome, finishDiscovery } from './finish-discovery.ts'
export { countNodesOfGroups, fitsNodeQuery, type GroupTree, groupsOfNodes, isInGroup, readGroupTree } from './group-tree.ts'
export { fingerprint, HostKey } from './host-key.ts'
export { expandHostlist, foldHostlist, HOSTLIST_MAX, splitHostlist } from './hostlist.ts'
export { NodeImportInput, type NodeImportReport, type NodeImportRow, type NodeImportState } from './import/plan.ts'
export { importNodes } from './import-nodes.ts'
export { isHostKeyChanged, whyNotConnect, whyNotDecommission, whyNotPurge, whyNotTestCredential, whyNotWrite } from './policy.ts'
export { purgeNode } from './purge-node.ts'
export type { NodeColumns } from './query/fields.ts'
export { parseNodeQuery } from './query/parse.ts'
export { recommissionNode } from './recommission-node.ts'
export { recordDiscoveryOfRun } from './record-discovery-of-run.ts'
export { recordNodeSeen } from './record-node-seen.ts'
export { recordNodesUnreachable, recordNodeUnreachable } from './record-node-unreachable.ts'
export { type OfferedHostKey, type OfferedKeyState, recordOfferedHostKey } from './record-offered-host-key.ts'
export { recordPreflightStage } from './record-preflight-stage.ts'
export { parseLimit, selectNodes } from './select-nodes.ts'
export { SetNodeMaintenanceInput, setNodeMaintenance } from './set-node-maintenance.ts'
export { startConnectionTest } from './start-connection-test.ts'
export { startDiscovery } from './start-discovery.ts'
export { storable } from './storable.ts'
export {
  accelerators,
  CONNECTION_TYPES,
  type ComputeNode,
  type ConnectionTest,
  type ConnectionType,
  computeNodes,
  connectionTests,
  DISCOVERY_REASONS,
  type DiscoveryRow,
  discoveries,
  discoveryEvidence,
  type LeanNode,
  NODE_STATUSES,
  NODE_TYPES,
  type NodeStatus,
  type NodeType,
  PREFLIGHT_STAGES,
  type PreflightStage,
  type PreflightStageName,
} from './tables.ts'
export { TestConnectionsInput, testConnections } from './test-connections.ts'
export { TestCredentialInput, testCredential } from './test-credential.ts'
export { UpdateNodeInput, updateNode } from './update-node.ts'
