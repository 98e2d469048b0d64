import { acceptUnknownMachine, rejectUnknownMachine } from '@muster/core/boot-service'
import { Conflict, NotFound } from '@muster/core/errors'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { UnknownMachine } from './types.ts'

const payload = { unknownMachine: { type: UnknownMachine, description: 'The machine.' } }
const errors = [Conflict, NotFound]

mutation('acceptUnknownMachine', {
  description: 'Makes an unknown machine a node: a new one, or an existing one, which gets its interfaces.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the machine.' }),
    nodeId: t.id({ description: 'ID of an existing node. Either this or a name is required.' }),
    name: t.string({ description: 'Name of a new node.' }),
    host: t.string({ description: 'Host name or address of a new node for connections. Default: its name.' }),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async ({ id, nodeId, ...input }, { ctx }) => ({
    unknownMachine: await acceptUnknownMachine(ctx, {
      ...input,
      id: rowId('UnknownMachine', id),
      nodeId: rowIdIfGiven('ComputeNode', nodeId),
    }),
  }),
})

mutation('rejectUnknownMachine', {
  description: 'Rejects an unknown machine: it boots from its own disk. It can be accepted later.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the machine.' }),
    reason: t.string({ description: 'Reason, shown with the machine; at most 500 characters.' }),
  }),
  payload,
  errors,
  resolve: async ({ id, reason }, { ctx }) => ({
    unknownMachine: await rejectUnknownMachine(ctx, { id: rowId('UnknownMachine', id), reason }),
  }),
})
