import { discoverNodes } from '@muster/core/discoveries'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { StartedDiscoveries } from './types.ts'

builder.mutationFields((t) => ({
  discoverNodes: t.field({
    type: StartedDiscoveries,
    description: 'Have a worker look what nodes are made of.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { nodeIds: t.arg.idList({ description: 'Which nodes; left out: every READY or UNREACHABLE one.' }) },
    resolve: async (_root, { nodeIds }, { ctx }) => ({
      discoveries: await discoverNodes(ctx, { nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)) }),
    }),
  }),
}))
