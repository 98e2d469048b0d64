export { AddNodeInput, addNode } from './add-node.ts'
export { AddNodesInput, addNodes } from './add-nodes.ts'
export { nodeAudit } from './audit-actions.ts'
export { BMC_FIELDS, BMC_PORTS, SetNodeBmcInput } from './bmc/fields.ts'
export { removeNodeBmc } from './bmc/remove-node-bmc.ts'
export { removeNodeBmcs } from './bmc/remove-node-bmcs.ts'
export { setNodeBmc } from './bmc/set-node-bmc.ts'
export { SetNodeBmcsInput, setNodeBmcs } from './bmc/set-node-bmcs.ts'
export { nodeChanged } from './change-events.ts'
export { checkNodeImport } from './check-node-import.ts'
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
export { lockNodes, noUnfinishedRun, unfinishedRunOf } from './unfinished-runs.ts'
export { UpdateNodeInput, updateNode } from './update-node.ts'
export { UpdateNodesInput, updateNodes } from './update-nodes.ts'
