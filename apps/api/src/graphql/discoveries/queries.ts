import { diffNodeDiscoveries } from '@muster/core/discoveries'
import { builder } from '../../builder.ts'
import { rowId } from '../shared/ids.ts'
import { DiscoveryChange } from './types.ts'

builder.queryField('discoveryDiff', (t) =>
  t.field({
    type: [DiscoveryChange],
    description:
      'In what two discoveries differ: those of one node at two times, or of two nodes. Of two nodes, names, addresses and serial numbers are left out.',
    authScopes: { authenticated: true },
    args: {
      before: t.arg.id({ required: true, description: 'The discovery to start from.' }),
      after: t.arg.id({ required: true, description: 'The discovery to compare with it.' }),
    },
    complexity: 100,
    resolve: (_root, { before, after }, { ctx }) =>
      diffNodeDiscoveries(ctx, { before: rowId('Discovery', before), after: rowId('Discovery', after) }),
  }),
)
