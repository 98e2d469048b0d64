import { Conflict, NotFound } from '@muster/core/errors'
import { createNodeGroup, deleteNodeGroup, nodeGroupAudit, setNodeGroupMembers, updateNodeGroup } from '@muster/core/groups'
import { globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { type DefaultText, deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../shared/mutation.ts'
import { NodeGroup, NodeGroupKind } from './types.ts'

const NAME = 'Name, unique in the tenant: letters, digits and `_`.'
const ID = 'ID of the group.'
const payload = { nodeGroup: { type: NodeGroup, description: 'The group.' } }

const optionalFields = (t: InputFields, defaultText: DefaultText) => ({
  displayName: t.string({ description: 'Display name.' }),
  description: t.string({ description: 'Free text.' }),
  kind: t.field({ type: NodeGroupKind, description: `What the group stands for.${defaultText('AD_HOC')}` }),
  priority: t.int({
    description: `Precedence of variables among groups at the same depth: the lower number wins.${defaultText('100')}`,
  }),
  parentId: t.id({
    description:
      'Parent group. It contains the nodes of this group; its variables have lower precedence than those of this group.',
  }),
  memberQuery: t.string({
    description: 'Node query, for example `accelerator.vendor = amd and tag = prod`: the nodes that match are the members.',
  }),
  exclusiveSet: t.string({ description: 'A node can be a member of at most one group of the same exclusive set.' }),
  isSystem: t.boolean({
    description: `Whether the group cannot be renamed or deleted. Only admins set this.${defaultText('false')}`,
  }),
})

mutation('createNodeGroup', {
  description: 'Creates a node group with a list of members, or with `memberQuery` a group of all nodes that match a query.',
  input: (t) => ({ name: t.string({ required: true, description: NAME }), ...optionalFields(t, statesDefault) }),
  idempotent: true,
  payload,
  errors: [Conflict],
  resolve: async ({ parentId, ...input }, { ctx }) => ({
    nodeGroup: await createNodeGroup(ctx, { ...input, parentId: rowIdIfGiven('NodeGroup', parentId) }),
  }),
})

mutation('updateNodeGroup', {
  description: 'Changes a node group. Omitted fields keep their values; null clears a field.',
  input: (t) => ({
    id: t.id({ required: true, description: ID }),
    name: t.string({ description: NAME }),
    ...optionalFields(t, keepsValue),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id, name, parentId, ...input }, { ctx }) => ({
    nodeGroup: await updateNodeGroup(ctx, {
      ...input,
      id: rowId('NodeGroup', id),
      name: name ?? undefined,
      parentId: rowIdIfGiven('NodeGroup', parentId),
    }),
  }),
})

mutation('deleteNodeGroup', {
  description: 'Deletes a node group. Its nodes are not deleted.',
  input: (t) => ({ id: t.id({ required: true, description: ID }) }),
  payload: deletedPayload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('NodeGroup', (await deleteNodeGroup(ctx, { id: rowId('NodeGroup', id) })).id),
  }),
})

mutation('setNodeGroupMembers', {
  action: nodeGroupAudit.setMembers,
  description: 'Adds nodes to a group and removes nodes from it.',
  input: (t) => ({
    id: t.id({ required: true, description: ID }),
    addNodeIds: t.idList({ description: 'Nodes to add, at most 10,000. Current members are ignored.' }),
    removeNodeIds: t.idList({ description: 'Nodes to remove, at most 10,000.' }),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id, addNodeIds, removeNodeIds }, { ctx }) => ({
    nodeGroup: await setNodeGroupMembers(ctx, {
      id: rowId('NodeGroup', id),
      addNodeIds: addNodeIds?.map((node) => rowId('ComputeNode', node)),
      removeNodeIds: removeNodeIds?.map((node) => rowId('ComputeNode', node)),
    }),
  }),
})
