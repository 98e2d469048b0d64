import { Conflict, NotFound } from '@muster/core/errors'
import { createNodeGroup, deleteNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { builder } from '../builder.ts'
import { Deleted } from './credential-mutations.ts'
import { COMMON } from './errors.ts'
import { NodeGroup } from './groups.ts'
import { globalId, rowId } from './ids.ts'

builder.mutationFields((t) => ({
  createNodeGroup: t.field({
    type: NodeGroup,
    description: 'Make a group of nodes.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict] },
    args: {
      name: t.arg.string({ required: true, description: 'Its name: letters, digits and _.' }),
      displayName: t.arg.string({ description: 'A name for people.' }),
      description: t.arg.string({ description: 'Free text.' }),
      priority: t.arg.int({ description: "Among a node's groups the one with the lower number wins; left out: 100." }),
    },
    resolve: (_root, input, { ctx }) => createNodeGroup(ctx, input),
  }),
  deleteNodeGroup: t.field({
    type: Deleted,
    description: 'Delete a group; its nodes stay.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which group.' }) },
    resolve: async (_root, { id }, { ctx }) => {
      const deleted = await deleteNodeGroup(ctx, { id: rowId('NodeGroup', id) })
      return { id: globalId('NodeGroup', deleted.id) }
    },
  }),
  setNodeGroupMembers: t.field({
    type: NodeGroup,
    description: 'Put nodes into a group and take nodes out of it.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: 'Which group.' }),
      add: t.arg.idList({ description: 'Nodes to put in; those that are in already stay.' }),
      remove: t.arg.idList({ description: 'Nodes to take out.' }),
    },
    resolve: (_root, { id, add, remove }, { ctx }) =>
      setNodeGroupMembers(ctx, {
        id: rowId('NodeGroup', id),
        add: add?.map((node) => rowId('ComputeNode', node)),
        remove: remove?.map((node) => rowId('ComputeNode', node)),
      }),
  }),
}))
