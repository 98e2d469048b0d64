import { defineDomain } from '../kernel/domain.ts'
import { nodeGroupAudit } from './audit-actions.ts'
import { groupPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const groupsDomain = defineDomain({
  name: 'groups',
  permissions: { groupPermissions },
  auditActions: { nodeGroupAudit },
  tables,
  relations,
  graphqlIds: { NodeGroup: tables.nodeGroups },
})
