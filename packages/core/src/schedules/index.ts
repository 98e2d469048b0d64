export { scheduleAudit } from './audit-actions.ts'
export type { Blackout } from './blackouts.ts'
export { scheduleChanged } from './change-events.ts'
export { checkSchedules, type ScheduleEvidence } from './check-schedules.ts'
export { CreateScheduleInput, createSchedule } from './create-schedule.ts'
export { deleteSchedule } from './delete-schedule.ts'
export { disableSchedule } from './disable-schedule.ts'
export { enableSchedule } from './enable-schedule.ts'
export { fireDueSchedules } from './fire-due-schedules.ts'
export { ownedBy, ownerGoneMessage } from './owner.ts'
export { schedulePermissions } from './permissions.ts'
export { ownedWriteBlockedReason, scheduleWriteBlockedReason } from './policy.ts'
export { PreviewScheduleInput, previewSchedule, type SchedulePreview } from './preview-schedule.ts'
export { pruneScheduleFirings } from './prune-schedule-firings.ts'
export { describeRule, type RuleLanguage } from './rule.ts'
export { RunScheduleInput, runSchedule } from './run-schedule.ts'
export {
  CATCH_UP_POLICIES,
  FIRING_OUTCOMES,
  FIRING_REASONS,
  OVERLAP_POLICIES,
  SCHEDULE_TARGETS,
  type Schedule,
  type ScheduleFiring,
  type ScheduleTarget,
} from './tables.ts'
export { upcomingTimes } from './times.ts'
export { UpdateScheduleInput, updateSchedule } from './update-schedule.ts'
