import { Conflict, NotFound } from '@muster/core/errors'
import {
  addNode,
  approveHostKeys,
  decommissionNode,
  discoverNodes,
  purgeNode,
  recommissionNode,
  setNodeMaintenance,
  testConnections,
  updateNode,
} from '@muster/core/nodes'
import { builder } from '../builder.ts'
import { ConnectionTest } from './connection-tests.ts'
import { Deleted } from './credential-mutations.ts'
import { Credential } from './credentials.ts'
import { Discovery } from './discoveries.ts'
import { COMMON } from './errors.ts'
import { given, globalId, parseId, rowId } from './ids.ts'
import { AddNodeInput, UpdateNodeInput, withRowIds } from './node-inputs.ts'
import { ComputeNode } from './nodes.ts'

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

const HostKeyApprovalReport = builder.objectRef<Awaited<ReturnType<typeof approveHostKeys>>>('HostKeyApprovalReport').implement({
  description: 'What now has an approved host key.',
  fields: (t) => ({
    nodes: t.expose('nodes', { type: [ComputeNode], description: 'Nodes.' }),
    credentials: t.expose('credentials', { type: [Credential], description: 'Bastions.' }),
  }),
})

const StartedConnectionTests = builder
  .objectRef<{ tests: Awaited<ReturnType<typeof testConnections>> }>('StartedConnectionTests')
  .implement({
    description: 'Connection tests that wait for a worker. Follow them with the subscription connectionTestUpdated.',
    fields: (t) => ({ tests: t.expose('tests', { type: [ConnectionTest], description: 'One per node.' }) }),
  })

const StartedDiscoveries = builder
  .objectRef<{ discoveries: Awaited<ReturnType<typeof discoverNodes>> }>('StartedDiscoveries')
  .implement({
    description: 'Discoveries that wait for a worker. Follow them with the subscription discoveryUpdated.',
    fields: (t) => ({ discoveries: t.expose('discoveries', { type: [Discovery], description: 'One per node.' }) }),
  })

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
