import { defineDomain } from '../kernel/domain.ts'
import { connectionTestChanged } from './change-events.ts'
import { connectionPermissions } from './permissions.ts'
import { connectionTestQueue } from './queues.ts'
import { relations } from './relations.ts'
import { connectionSettings } from './settings.ts'
import * as tables from './tables.ts'

export const connectionsDomain = defineDomain({
  name: 'connections',
  permissions: { connectionPermissions },
  changeEvents: [connectionTestChanged],
  queues: [connectionTestQueue],
  settings: connectionSettings,
  tables,
  relations,
  graphqlIds: { ConnectionTest: tables.connectionTests },
})
