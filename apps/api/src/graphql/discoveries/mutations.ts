import { discoverNodes } from '@muster/core/discoveries'
import { Conflict, NotFound } from '@muster/core/errors'
import { nodeAudit } from '@muster/core/nodes'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { Discovery } from './types.ts'

mutation('discoverNodes', {
  action: nodeAudit.discover,
  description: 'Starts a discovery of each node. Follow the discoveries with the subscription `discoveryUpdated`.',
  input: (t) => ({
    nodeIds: t.idList({ description: 'IDs of the nodes, at most 10,000. Default: all nodes with status READY or UNREACHABLE.' }),
  }),
  idempotent: true,
  payload: { discoveries: { type: [Discovery], description: 'The started discoveries; one per node, at most 10,000.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ nodeIds, idempotencyKey }, { ctx }) => ({
    discoveries: await discoverNodes(ctx, { nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)), idempotencyKey }),
  }),
})
