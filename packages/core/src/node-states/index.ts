export { decommissionNode } from './decommission-node.ts'
export { decommissionNodes } from './decommission-nodes.ts'
export { endExpiredMaintenance, endMaintenanceOfRuns, startMaintenanceOfRun } from './end-maintenance.ts'
export {
  NODE_STATE_CHANGES,
  type NodeStateChange,
  type NodeStatePreview,
  PreviewNodeStateInput,
  previewNodeState,
} from './preview-node-state.ts'
export { SetNodeMaintenanceInput, setNodeMaintenance } from './set-node-maintenance.ts'
