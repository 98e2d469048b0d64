export { bmcAudit, bmcDiscoveryAudit, powerRunAudit } from './audit-actions.ts'
export { bmcConflicts } from './bmc-conflicts.ts'
export { cancelBmcDiscovery } from './cancel-bmc-discovery.ts'
export { cancelPowerRun, requestPowerRunCancel } from './cancel-power-run.ts'
export { bmcDiscoveryChanged, powerRunCancelRequested, powerRunChanged } from './change-events.ts'
export { discoverBmcs } from './discover-bmcs.ts'
export { claimBmcDiscovery, finishBmcDiscovery, type ProbedBmc, recordFoundBmcs } from './discovery-execution.ts'
export {
  type ClaimedPowerRun,
  claimPowerRun,
  finishPowerRun,
  POWER_CLAIM_SECONDS,
  type PowerOutcome,
  recordPowerCommand,
  recordPowerResult,
  renewPowerRun,
  type SendPermission,
} from './execution.ts'
export { powerMessages } from './messages.ts'
export { bmcPermissions, powerActionPermission, powerPermissions } from './permissions.ts'
export { type NodePower, powerStates } from './power-states.ts'
export { type PowerTarget, powerTargetBlockedReason } from './power-targets.ts'
export { type PowerRunPreview, previewPowerRun } from './preview-power-run.ts'
export { protectionsOf } from './protections.ts'
export { bmcDiscoveryQueue, bmcReadQueue, powerRunQueue } from './queues.ts'
export { ReadBmcsInput, readBmcs } from './read-bmcs.ts'
export { type BmcReport, type BmcToRead, findBmc, recordBmcReading } from './record-bmc-reading.ts'
export { prunePowerRuns, reassignPowerWork, requestDueReadings } from './schedule-power-work.ts'
export { insertPowerRun, startPowerRun } from './start-power-run.ts'
export {
  BMC_DISCOVERY_STATUSES,
  type BmcDiscovery,
  type BmcEvent,
  type BmcInventory,
  type BmcReading,
  type BmcSensor,
  BOOT_DEVICES,
  type BootDevice,
  POWER_ACTIONS,
  POWER_RESULTS,
  POWER_RUN_STATUSES,
  POWER_STATES,
  type PowerAction,
  type PowerResult,
  type PowerRun,
  type PowerRunItem,
  type PowerState,
  powerRunItems,
  powerRuns,
} from './tables.ts'
