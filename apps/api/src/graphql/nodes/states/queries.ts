import { tenantPermissions } from '@muster/core/access'
import { NotFound } from '@muster/core/errors'
import { previewNodeState } from '@muster/core/node-states'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { rowId } from '../../shared/ids.ts'
import { NodeStateChangeType, NodeStatePreviewType } from './types.ts'

const PreviewNodeStateInput = builder.inputType('PreviewNodeStateInput', {
  description: 'Input of `previewNodeState`.',
  fields: (t) => ({
    nodeIds: t.idList({ required: true, description: 'The nodes; at most 10,000.' }),
    change: t.field({ type: NodeStateChangeType, required: true, description: 'The change.' }),
  }),
})

builder.queryField('previewNodeState', (t) =>
  t.field({
    type: NodeStatePreviewType,
    description: 'What maintenance, a drain or a decommission of nodes would do now. Nothing is changed.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, NotFound] },
    args: {
      input: t.arg({ type: PreviewNodeStateInput, required: true, description: 'Input of `previewNodeState`.' }),
    },
    resolve: (_root, { input: { nodeIds, change } }, { ctx }) =>
      previewNodeState(ctx, { change, nodeIds: nodeIds.map((id) => rowId('ComputeNode', id)) }),
  }),
)
