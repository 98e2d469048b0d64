import { tenantPermissions } from '@muster/core/access'
import { diffNodeDiscoveries } from '@muster/core/discoveries'
import { builder } from '../../builder.ts'
import { rowId } from '../shared/ids.ts'
import { DiscoveryChange } from './types.ts'

builder.queryField('discoveryDiff', (t) =>
  t.field({
    type: [DiscoveryChange],
    description:
      'Differences between two discoveries of one node or of two nodes; at most 1,000. For two nodes, names, addresses and serial numbers are ignored.',
    authScopes: { permission: tenantPermissions.read },
    args: {
      fromId: t.arg.id({ required: true, description: 'ID of the earlier discovery.' }),
      toId: t.arg.id({ required: true, description: 'ID of the later discovery.' }),
    },
    complexity: 100,
    resolve: async (_root, { fromId, toId }, { ctx }) =>
      (await diffNodeDiscoveries(ctx, { before: rowId('Discovery', fromId), after: rowId('Discovery', toId) })).slice(0, 1000),
  }),
)
