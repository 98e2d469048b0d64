import { Conflict, NotFound } from '@muster/core/errors'
import { addNode, decommissionNode, purgeNode, recommissionNode, setNodeMaintenance, updateNode } from '@muster/core/nodes'
import { builder } from '../../builder.ts'
import { Deleted } from '../shared/deleted.ts'
import { COMMON } from '../shared/errors.ts'
import { given, globalId, rowId } from '../shared/ids.ts'
import { AddNodeInput, UpdateNodeInput, withRowIds } from './inputs.ts'
import { ComputeNode } from './types.ts'

const which = 'Which node.'

const nodeId = (id: string) => ({ id: rowId('ComputeNode', id) })

builder.mutationFields((t) => ({
  addNode: t.field({
    type: ComputeNode,
    description: 'Add one node. It is NEW until a connection test succeeds.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: AddNodeInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { ctx }) => addNode(ctx, given(withRowIds(input))),
  }),
  updateNode: t.field({
    type: ComputeNode,
    description: 'Change fields of a node.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: UpdateNodeInput, required: true, description: 'What to change.' }) },
    // Null where a field cannot be empty is for the verb to refuse.
    resolve: (_root, { input }, { ctx }) =>
      updateNode(ctx, { ...withRowIds(input), ...nodeId(input.id) } as Parameters<typeof updateNode>[1]),
  }),
  setNodeMaintenance: t.field({
    type: ComputeNode,
    description: 'Take a node out of service for a while, or put it back.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: which }),
      isOn: t.arg.boolean({ required: true, description: 'True: out of service; false: back.' }),
    },
    resolve: (_root, { id, isOn }, { ctx }) => setNodeMaintenance(ctx, { ...nodeId(id), isOn }),
  }),
  decommissionNode: t.field({
    type: ComputeNode,
    description: 'Take a node out of service for good. Refused while a run targets it.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: which }) },
    resolve: (_root, { id }, { ctx }) => decommissionNode(ctx, nodeId(id)),
  }),
  recommissionNode: t.field({
    type: ComputeNode,
    description: 'Take a decommissioned node back into service.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: which }) },
    resolve: (_root, { id }, { ctx }) => recommissionNode(ctx, nodeId(id)),
  }),
  purgeNode: t.field({
    type: Deleted,
    description: 'Remove a decommissioned node with all that is known of it. Logs of runs keep its name.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: which }) },
    resolve: async (_root, { id }, { ctx }) => ({ id: globalId('ComputeNode', (await purgeNode(ctx, nodeId(id))).id) }),
  }),
}))
