import { defineDomain } from '../kernel/domain.ts'
import { jobArtifactAudit, jobRunAudit, retentionAudit } from './audit-actions.ts'
import { jobRunCancelRequested, jobRunChanged, jobRunEventsAppended } from './change-events.ts'
import { jobRunPermissions, retentionPermissions } from './permissions.ts'
import { jobRunQueue } from './queues.ts'
import { relations } from './relations.ts'
import { jobRunSettings } from './settings.ts'
import * as tables from './tables.ts'

export const runsDomain = defineDomain({
  name: 'runs',
  permissions: { jobRunPermissions, retentionPermissions },
  auditActions: { jobArtifactAudit, jobRunAudit, retentionAudit },
  changeEvents: [jobRunChanged, jobRunEventsAppended, jobRunCancelRequested],
  queues: [jobRunQueue],
  settings: jobRunSettings,
  tables,
  relations,
  graphqlIds: { JobRun: tables.jobRuns, JobArtifact: tables.jobArtifacts },
})
