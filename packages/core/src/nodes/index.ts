export { AddNodeInput, addNode } from './add-node.ts'
export { AddNodesInput, addNodes } from './add-nodes.ts'
export { nodeAudit } from './audit-actions.ts'
export { BMC_FIELDS, BMC_PORTS } from './bmc/fields.ts'
export { removeNodeBmc } from './bmc/remove-node-bmc.ts'
export { SetNodeBmcInput, setNodeBmc } from './bmc/set-node-bmc.ts'
export { nodeChanged } from './change-events.ts'
export { checkNodeImport } from './check-node-import.ts'
export { decommissionNode } from './decommission-node.ts'
export { defaultPython, isSupportedPython, MIN_PYTHON } from './default-python.ts'
export { NODE_FIELDS } from './fields.ts'
export { NODE_HEALTH_STATUSES, type NodeHealth, type NodeHealthStatus, nodeHealth, nodeHealthStatus } from './health/index.ts'
export { fingerprint, HostKey } from './host-key.ts'
export { NodeImportInput } from './import/plan.ts'
export type { NodeImportReport, NodeImportRow, NodeImportState } from './import/rows.ts'
export { ImportNodesInput, importNodes, nodeImportResult } from './import-nodes.ts'
export {
  bmcXname,
  formatXname,
  normalizeXname,
  parseHardwareAddress,
  parseMac,
  parseXname,
  xnameRejections,
} from './network/index.ts'
export { nodePermissions } from './permissions.ts'
export {
  connectBlockedReason,
  decommissionBlockedReason,
  hostKeyAlarm,
  isHostKeyChanged,
  purgeBlockedReason,
  updateBlockedReason,
} from './policy.ts'
export { purgeNode } from './purge-node.ts'
export { recommissionNode } from './recommission-node.ts'
export { recordNodeSeen } from './record-node-seen.ts'
export { recordNodesUnreachable, recordNodeUnreachable } from './record-node-unreachable.ts'
export { SetNodeMaintenanceInput, setNodeMaintenance } from './set-node-maintenance.ts'
export {
  accelerators,
  BMC_PROTOCOLS,
  type BmcProtocol,
  CONNECTION_TYPES,
  type ComputeNode,
  type ConnectionType,
  computeNodes,
  type LeanNode,
  NODE_STATUSES,
  NODE_TYPES,
  type NodeBmc,
  type NodeInterface,
  type NodeStatus,
  type NodeType,
  nodeBmcs,
} from './tables.ts'
export { UpdateNodeInput, updateNode } from './update-node.ts'
export { UpdateNodesInput, updateNodes } from './update-nodes.ts'
