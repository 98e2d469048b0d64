export { AcceptUnknownMachineInput, acceptUnknownMachine } from './accept-unknown-machine.ts'
export { bootAudit, bootRuleAudit, unknownMachineAudit } from './audit-actions.ts'
export type { BootUrls } from './boot-urls.ts'
export { bootRuleChanged, nodeBootChanged, unknownMachineChanged } from './change-events.ts'
export { completePhoneHome } from './complete-phone-home.ts'
export type { FetchRecord, RecordedFetch } from './fetch-record.ts'
export { createFetchRecorder, type FetchRecorder } from './fetch-recorder.ts'
export { type BootIdentity, type BootNode, findBootNodes } from './find-boot-nodes.ts'
export { type BootStuckEvidence, observeBoots } from './observe-boots.ts'
export { bootPermissions, bootRulePermissions, unknownMachinePermissions } from './permissions.ts'
export { acceptUnknownMachineBlockedReason, rejectUnknownMachineBlockedReason, writeBootRuleBlockedReason } from './policy.ts'
export { type BootPreview, type BootPreviewFile, previewBoots } from './preview-boot.ts'
export { pruneBootRecords } from './prune-boot-records.ts'
export { type BootDuration, readBootDurations } from './read-boot-durations.ts'
export { DhcpConfigInput, readDhcpConfig } from './read-dhcp-config.ts'
export { recordBootFetches } from './record-boot-fetches.ts'
export { recordBootStage } from './record-boot-stage.ts'
export { rejectUnknownMachine } from './reject-unknown-machine.ts'
export { sha256 } from './render/cloud-init.ts'
export type { DHCP_SERVERS } from './render/dhcp-config.ts'
export { MAX_UNKNOWN_MACHINES, reportUnknownMachines, type UnknownMachineReport } from './report-unknown-machines.ts'
export { acceptByRules } from './rules/accept-by-rules.ts'
export { CreateBootRuleInput, createBootRule } from './rules/create-boot-rule.ts'
export { deleteBootRule } from './rules/delete-boot-rule.ts'
export { UpdateBootRuleInput, updateBootRule } from './rules/update-boot-rule.ts'
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
  type BootRule,
  type BootRuleMatch,
  UNKNOWN_MACHINE_STATES,
  type UnknownMachine,
} from './tables.ts'
