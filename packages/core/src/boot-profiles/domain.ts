import { defineDomain } from '../kernel/domain.ts'
import { bootProfileAudit } from './audit-actions.ts'
import { bootProfileChanged } from './change-events.ts'
import { bootProfilePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const bootProfilesDomain = defineDomain({
  name: 'boot-profiles',
  permissions: { bootProfilePermissions },
  auditActions: { bootProfileAudit },
  changeEvents: [bootProfileChanged],
  tables,
  relations,
  graphqlIds: {
    BootProfile: tables.bootProfiles,
    BootProfileVersion: tables.bootProfileVersions,
    BootAssignment: tables.bootAssignments,
  },
})
