import { approveHostKeys, testConnections } from '@muster/core/connections'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { parseId, rowId } from '../shared/ids.ts'
import { HostKeyApprovalReport, StartedConnectionTests } from './types.ts'

const HostKeyApproval = builder.inputType('HostKeyApproval', {
  description: 'A host key that somebody has looked at and found right.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Id of the ComputeNode, or of the Credential of a bastion.' }),
    fingerprint: t.string({
      required: true,
      description: 'Fingerprint of the key as offered, `SHA256:…`. Another key is not approved.',
    }),
  }),
})

builder.mutationFields((t) => ({
  approveHostKeys: t.field({
    type: HostKeyApprovalReport,
    description: 'Approve host keys that were offered. From then on only these are accepted.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { approvals: t.arg({ type: [HostKeyApproval], required: true, description: 'Which keys.' }) },
    resolve: (_root, { approvals }, { ctx }) =>
      approveHostKeys(
        ctx,
        approvals.map(({ id, fingerprint }) => {
          const objectType = parseId(id)?.type === 'Credential' ? ('Credential' as const) : ('ComputeNode' as const)
          return { objectType, id: rowId(objectType, id), fingerprint }
        }),
      ),
  }),
  testConnections: t.field({
    type: StartedConnectionTests,
    description: 'Have a worker try, stage by stage, how far it gets on each node.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { nodeIds: t.arg.idList({ required: true, description: 'Which nodes.' }) },
    resolve: async (_root, { nodeIds }, { ctx }) => ({
      tests: await testConnections(ctx, { nodeIds: nodeIds.map((id) => rowId('ComputeNode', id)) }),
    }),
  }),
}))
