import { defineDomain } from '../kernel/domain.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { discoveryQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const discoveriesDomain = defineDomain({
  name: 'discoveries',
  permissions: { discoveryPermissions },
  changeEvents: [discoveryChanged],
  queues: [discoveryQueue],
  tables,
  relations,
  graphqlIds: { Discovery: tables.discoveries },
})
