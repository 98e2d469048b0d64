import { defineDomain } from '../kernel/domain.ts'
import { jobTemplateAudit, playbookBundleAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const templatesDomain = defineDomain({
  name: 'templates',
  permissions: { templatePermissions },
  auditActions: { jobTemplateAudit, playbookBundleAudit },
  tables,
  relations,
  graphqlIds: { JobTemplate: tables.jobTemplates, PlaybookBundle: tables.playbookBundles },
})
