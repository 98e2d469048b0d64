import { Conflict, NotFound } from '@muster/core/errors'
import { bmcAudit, cancelPowerRun, readBmcs, startPowerRun } from '@muster/core/power'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { rowId } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { BootDevice, PowerAction } from './enums.ts'
import { PowerRun } from './types.ts'

const errors = [Conflict, NotFound]

const requestFields = (t: InputFields) => ({
  action: t.field({ type: PowerAction, required: true, description: 'Action.' }),
  bootDevice: t.field({ type: BootDevice, description: 'BOOT_ONCE: device of the next boot.' }),
  nodeIds: t.idList({ description: 'IDs of the nodes; at most 10,000. Either these or `limit`.' }),
  limit: t.string({ description: 'Limit expression of the nodes, as for runs.' }),
  force: t.boolean({
    description:
      'Includes nodes with running SlurmJobs or locks, which otherwise block the action. Needs `power:override`. Default: false.',
  }),
  parallelism: t.int({ description: 'Nodes in progress at the same time, 1 to 500. Default: 10.' }),
  delaySeconds: t.int({
    description: 'Time between the commands of two nodes, 0 to 3600. Default: 1 for ON, RESTART and CYCLE, otherwise 0.',
  }),
})

export const PreviewPowerRunInput = builder.inputType('PreviewPowerRunInput', {
  description: 'Input of `previewPowerRun`.',
  fields: requestFields,
})

/** Converts global IDs to row IDs. */
export const withNodeIds = <T extends { nodeIds?: string[] | null }>(input: T) => ({
  ...input,
  nodeIds: input.nodeIds?.map((id) => rowId('ComputeNode', id)),
})

mutation('startPowerRun', {
  description:
    'Starts a power action on nodes through their BMCs. All or nothing: one node without a BMC, or with running SlurmJobs or a lock, refuses it. Follow it with the subscription `powerRunUpdated`.',
  input: (t) => ({
    ...requestFields(t),
    reason: t.string({ required: true, description: 'Reason, at most 200 characters; recorded in the audit log.' }),
  }),
  idempotent: true,
  payload: { powerRun: { type: PowerRun, description: 'The started power run.' } },
  errors,
  resolve: async (input, { ctx }) => ({ powerRun: await startPowerRun(ctx, withNodeIds(input)) }),
})

mutation('cancelPowerRun', {
  description: 'Requests the end of a power run: no further command is sent. Effects of commands that were sent are still read.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the power run.' }) }),
  payload: { powerRun: { type: PowerRun, description: 'The power run.' } },
  errors,
  resolve: async ({ id }, { ctx }) => ({ powerRun: await cancelPowerRun(ctx, { id: rowId('PowerRun', id) }) }),
})

mutation('readBmcs', {
  action: bmcAudit.read,
  description:
    'Requests a reading of the BMCs of nodes: power state, inventory, sensors and event log. `NodeBmc.reading.requestedAt` is null when it ended.',
  input: (t) => ({ nodeIds: t.idList({ required: true, description: 'IDs of the nodes; at most 500.' }) }),
  payload: { nodes: { type: [ComputeNode], description: 'The nodes; at most 500.' } },
  errors,
  resolve: async ({ nodeIds }, { ctx }) => ({
    nodes: await readBmcs(ctx, { nodeIds: nodeIds.map((id) => rowId('ComputeNode', id)) }),
  }),
})
