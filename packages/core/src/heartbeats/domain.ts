import { defineDomain } from '../kernel/domain.ts'
import { heartbeatPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const heartbeatsDomain = defineDomain({
  name: 'heartbeats',
  permissions: { heartbeatPermissions },
  tables,
  relations,
})
