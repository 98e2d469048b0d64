import { approveHostKeys, testConnections } from '@muster/core/connections'
import { Conflict, NotFound } from '@muster/core/errors'
import { nodeAudit } from '@muster/core/nodes'
import { builder } from '../../builder.ts'
import { Credential } from '../credentials/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { parseId, rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { ConnectionTest } from './types.ts'

const HostKeyApprovalInput = builder.inputType('HostKeyApprovalInput', {
  description: 'Approval of one offered host key.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'ID of the ComputeNode, or of the Credential of a bastion.' }),
    fingerprint: t.string({
      required: true,
      description: 'Fingerprint of the offered key, `SHA256:…`. The approval fails if another key is offered now.',
    }),
  }),
})

mutation('approveHostKeys', {
  action: nodeAudit.approveHostKey,
  description: 'Approves offered host keys. Connections accept only approved keys.',
  input: (t) => ({
    approvals: t.field({ type: [HostKeyApprovalInput], required: true, description: 'Keys to approve; at most 10,000.' }),
  }),
  payload: {
    nodes: { type: [ComputeNode], description: 'Nodes whose host key is now approved; at most one per approval.' },
    credentials: { type: [Credential], description: 'Bastions whose host key is now approved; at most one per approval.' },
  },
  errors: [Conflict, NotFound],
  resolve: ({ approvals }, { ctx }) =>
    approveHostKeys(ctx, {
      approvals: approvals.map(({ id, fingerprint }) => {
        const objectType = parseId(id)?.type === 'Credential' ? ('Credential' as const) : ('ComputeNode' as const)
        return { objectType, id: rowId(objectType, id), fingerprint }
      }),
    }),
})

mutation('testConnections', {
  action: nodeAudit.testConnection,
  description: 'Starts a connection test for each node. Follow the tests with the subscription `connectionTestUpdated`.',
  input: (t) => ({ nodeIds: t.idList({ required: true, description: 'IDs of the nodes; at least one, at most 10,000.' }) }),
  idempotent: true,
  payload: { connectionTests: { type: [ConnectionTest], description: 'The started tests; one per node, at most 10,000.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ nodeIds, idempotencyKey }, { ctx }) => ({
    connectionTests: await testConnections(ctx, { nodeIds: nodeIds.map((id) => rowId('ComputeNode', id)), idempotencyKey }),
  }),
})
