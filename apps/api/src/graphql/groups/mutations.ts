import { Conflict, NotFound } from '@muster/core/errors'
import { createNodeGroup, deleteNodeGroup, setNodeGroupMembers, updateNodeGroup } from '@muster/core/groups'
import { builder } from '../../builder.ts'
import { Deleted } from '../shared/deleted.ts'
import { COMMON } from '../shared/errors.ts'
import { globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { NodeGroup } from './types.ts'

const NAME = 'Its name: letters, digits and _.'

type Mutations = Parameters<Parameters<typeof builder.mutationFields>[0]>[0]

const groupArgs = (t: Mutations) => ({
  displayName: t.arg.string({ description: 'A name for people.' }),
  description: t.arg.string({ description: 'Free text.' }),
  priority: t.arg.int({ description: "Among a node's groups the one with the lower number wins; a new one has 100." }),
  parentId: t.arg.id({ description: "The group above: it has this group's nodes too, and its variables yield to this group's." }),
  memberQuery: t.arg.string({
    description: 'The nodes that fit this query are in it, at any time: `accelerator.vendor = amd and tag = prod`.',
  }),
  exclusiveSet: t.arg.string({ description: 'Of all groups that name the same set, a node is in one at most.' }),
})

builder.mutationFields((t) => ({
  createNodeGroup: t.field({
    type: NodeGroup,
    description: 'Make a group of nodes: those that are put into it, or with `memberQuery` those that fit the query.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict] },
    args: { ...groupArgs(t), name: t.arg.string({ required: true, description: NAME }) },
    resolve: (_root, { parentId, ...input }, { ctx }) =>
      createNodeGroup(ctx, { ...input, parentId: rowIdIfGiven('NodeGroup', parentId) }),
  }),
  updateNodeGroup: t.field({
    type: NodeGroup,
    description: 'Change a group; what is left out stays, null takes away.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      ...groupArgs(t),
      id: t.arg.id({ required: true, description: 'Which group.' }),
      name: t.arg.string({ description: NAME }),
    },
    resolve: (_root, { id, name, parentId, ...input }, { ctx }) =>
      updateNodeGroup(ctx, {
        ...input,
        id: rowId('NodeGroup', id),
        name: name ?? undefined,
        parentId: rowIdIfGiven('NodeGroup', parentId),
      }),
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
