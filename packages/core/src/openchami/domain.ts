import { defineDomain } from '../kernel/domain.ts'
import { openchamiTargetAudit } from './audit-actions.ts'
import { openchamiTargetChanged } from './change-events.ts'
import { openchamiPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import { openchamiSettings } from './settings.ts'
import * as tables from './tables.ts'

/** The inventory in the terms of OpenCHAMI's SMD and BSS, where components are nodes with an xname; a target that is to have the same. */
export const openchamiDomain = defineDomain({
  name: 'openchami',
  permissions: { openchamiPermissions },
  auditActions: { openchamiTargetAudit },
  changeEvents: [openchamiTargetChanged],
  settings: openchamiSettings,
  tables,
  relations,
  graphqlIds: { OpenchamiTarget: tables.openchamiTargets },
})
