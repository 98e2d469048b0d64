import { Conflict, NotFound } from '@muster/core/errors'
import { decommissionNode, setNodeMaintenance } from '@muster/core/node-states'
import { addNode, nodeAudit, purgeNode, recommissionNode, updateNode } from '@muster/core/nodes'
import { given, globalId, rowId } from '../shared/ids.ts'
import { deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../shared/mutation.ts'
import { NewNodeBmcInput, newBmc } from './bmc/inputs.ts'
import { HOST, identityFields, NAME, optionalFields, withRowIds } from './inputs.ts'
import { ComputeNode } from './types.ts'

const payload = { node: { type: ComputeNode, description: 'The node.' } }
const errors = [Conflict, NotFound]
const idField = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the node.' }) })
const nodeId = (id: string) => ({ id: rowId('ComputeNode', id) })

mutation('addNode', {
  description: 'Adds a node. Its status is NEW until a connection test succeeds.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    host: t.string({ required: true, description: HOST }),
    ...optionalFields(t, statesDefault),
    ...identityFields(t),
    bmc: t.field({ type: NewNodeBmcInput, description: 'BMC of the node.' }),
    hostKey: t.string({
      description: 'Known host key, type and base64, for example `ssh-ed25519 AAAA…`. It is approved immediately.',
    }),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async (input, { ctx }) => ({
    node: await addNode(ctx, given({ ...withRowIds(input), bmc: newBmc(input.bmc) })),
  }),
})

mutation('updateNode', {
  description:
    'Changes a node. Omitted fields keep their values; null clears a field. Another host or port resets the status to NEW and removes the approved host key.',
  input: (t) => ({
    ...idField(t),
    name: t.string({ description: NAME }),
    host: t.string({ description: HOST }),
    ...optionalFields(t, keepsValue),
    ...identityFields(t),
  }),
  payload,
  errors,
  // The verb rejects null for fields that are required.
  resolve: async (input, { ctx }) => ({
    node: await updateNode(ctx, { ...withRowIds(input), ...nodeId(input.id) } as Parameters<typeof updateNode>[1]),
  }),
})

mutation('setNodeMaintenance', {
  action: nodeAudit.startMaintenance,
  description:
    'Starts, changes or ends maintenance of a node. Runs that include a node in maintenance are refused, schedules and triggers leave it out, and its alerts send no notifications.',
  input: (t) => ({
    ...idField(t),
    enabled: t.boolean({ required: true, description: 'True starts maintenance, or changes it; false ends it.' }),
    reason: t.string({ description: 'Why the node is in maintenance. Omitted: keeps the reason; null: none.' }),
    endsAt: t.field({
      type: 'DateTime',
      description: 'When the maintenance ends by itself. Omitted: keeps the end; null: a user ends it.',
    }),
  }),
  payload,
  errors,
  resolve: async ({ id, enabled, ...input }, { ctx }) => ({
    node: await setNodeMaintenance(ctx, { ...input, ...nodeId(id), isOn: enabled }),
  }),
})

mutation('decommissionNode', {
  description:
    'Decommissions a node, deregisters its agent and resolves its alerts. Rejected while an unfinished run targets it.',
  input: idField,
  payload,
  errors,
  resolve: async ({ id }, { ctx }) => ({ node: await decommissionNode(ctx, nodeId(id)) }),
})

mutation('recommissionNode', {
  description: 'Returns a decommissioned node to service.',
  input: idField,
  payload,
  errors,
  resolve: async ({ id }, { ctx }) => ({ node: await recommissionNode(ctx, nodeId(id)) }),
})

mutation('purgeNode', {
  description: 'Deletes a decommissioned node with its discoveries, variables and history. Logs of runs keep its name.',
  input: idField,
  payload: deletedPayload,
  errors,
  resolve: async ({ id }, { ctx }) => ({ deletedId: globalId('ComputeNode', (await purgeNode(ctx, nodeId(id))).id) }),
})
