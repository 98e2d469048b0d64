import { Conflict, NotFound } from '@muster/core/errors'
import { nodeAudit, removeNodeBmc, setNodeBmc } from '@muster/core/nodes'
import { rowId, rowIdIfGiven } from '../../shared/ids.ts'
import { mutation } from '../../shared/mutation.ts'
import { ComputeNode } from '../types.ts'
import { BMC_ADDRESS, BMC_CREDENTIAL, bmcFields } from './inputs.ts'
import { NodeBmc } from './types.ts'

const errors = [Conflict, NotFound]

mutation('setNodeBmc', {
  action: nodeAudit.setBmc,
  description:
    'Sets the BMC of a node, or changes the given fields of the one that it has; null clears a field. Another address, port or protocol removes the fingerprint and what was read.',
  input: (t) => ({
    nodeId: t.id({ required: true, description: 'ID of the node.' }),
    address: t.string({ description: `${BMC_ADDRESS} Required for a new BMC.` }),
    credentialId: t.id({ description: `${BMC_CREDENTIAL} Required for a new BMC.` }),
    ...bmcFields(t),
  }),
  payload: { bmc: { type: NodeBmc, description: 'The BMC.' }, node: { type: ComputeNode, description: 'The node.' } },
  errors,
  // The verb rejects null for fields that are required.
  resolve: async (input, { ctx, deps }) => {
    const nodeId = rowId('ComputeNode', input.nodeId)
    const fields = { ...input, nodeId, credentialId: rowIdIfGiven('Credential', input.credentialId) }
    const bmc = await setNodeBmc(ctx, fields as Parameters<typeof setNodeBmc>[1], deps.localTargets)
    return { bmc, node: { id: nodeId } as typeof ComputeNode.$inferType }
  },
})

mutation('removeNodeBmc', {
  action: nodeAudit.removeBmc,
  description: 'Removes the BMC of a node, with what was read from it.',
  input: (t) => ({ nodeId: t.id({ required: true, description: 'ID of the node.' }) }),
  payload: { node: { type: ComputeNode, description: 'The node.' } },
  errors,
  resolve: async ({ nodeId }, { ctx }) => ({ node: await removeNodeBmc(ctx, { nodeId: rowId('ComputeNode', nodeId) }) }),
})
