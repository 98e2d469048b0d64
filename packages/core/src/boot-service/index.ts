export { AcceptUnknownMachineInput, acceptUnknownMachine } from './accept-unknown-machine.ts'
export { bootAudit, unknownMachineAudit } from './audit-actions.ts'
export type { BootUrls } from './boot-urls.ts'
export { nodeBootChanged, unknownMachineChanged } from './change-events.ts'
export { completePhoneHome } from './complete-phone-home.ts'
export { type BootIdentity, type BootNode, findBootNodes } from './find-boot-nodes.ts'
export { type BootStuckEvidence, observeBoots } from './observe-boots.ts'
export { bootPermissions, unknownMachinePermissions } from './permissions.ts'
export { acceptUnknownMachineBlockedReason, rejectUnknownMachineBlockedReason } from './policy.ts'
export { type BootPreview, previewBoots } from './preview-boot.ts'
export { pruneBootRecords } from './prune-boot-records.ts'
export { type BootDuration, readBootDurations } from './read-boot-durations.ts'
export { DhcpConfigInput, readDhcpConfig } from './read-dhcp-config.ts'
export { type FetchRecord, type RecordedFetch, recordBootFetches } from './record-boot-fetches.ts'
export { recordBootStage } from './record-boot-stage.ts'
export { rejectUnknownMachine } from './reject-unknown-machine.ts'
export { sha256 } from './render/cloud-init.ts'
export type { DHCP_SERVERS } from './render/dhcp-config.ts'
export { MAX_UNKNOWN_MACHINES, reportUnknownMachines, type UnknownMachineReport } from './report-unknown-machines.ts'
export { type BootScript, type BootScriptRequest, retryScript, serveBootScripts } from './serve-boot-scripts.ts'
export { CLOUD_INIT_FILES, type CloudInitFile, type CloudInitRequest, serveCloudInit } from './serve-cloud-init.ts'
export { bootServiceSettings } from './settings.ts'
export { BOOT_STAGE_NAMES, BOOT_STAGES, type BootStage, stuckAt, type TimelineEntry, timelineOf } from './stages.ts'
export {
  BOOT_CAUSES,
  BOOT_FETCH_KINDS,
  BOOT_STATES,
  type BootAttempt,
  type BootFetch,
  UNKNOWN_MACHINE_STATES,
  type UnknownMachine,
} from './tables.ts'
