import {
  acceptUnknownMachine,
  createBootRule,
  deleteBootRule,
  rejectUnknownMachine,
  updateBootRule,
} from '@muster/core/boot-service'
import { Conflict, NotFound } from '@muster/core/errors'
import { BootArch } from '../boot-profiles/types.ts'
import { globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { BootRule, UnknownMachine } from './types.ts'

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

const rulePayload = { bootRule: { type: BootRule, description: 'The rule.' } }
const LIST = 'at most 100; null or an empty list: any'
const NAMES = 'Hostlist of node names, at most 10,000. A machine gets the first unused name.'
const ruleFields = (t: InputFields) => ({
  priority: t.int({
    description: 'If several rules match, the lowest number decides, then the name. Default of new rules: 100.',
  }),
  isEnabled: t.boolean({ description: 'Whether it accepts machines. Default of new rules: true.' }),
  macPrefixes: t.stringList({ description: `Prefixes of the boot MAC, as whole bytes; ${LIST}.` }),
  interfaceMacPrefixes: t.stringList({ description: `MAC prefixes that at least one interface must match; ${LIST}.` }),
  serials: t.stringList({ description: `Patterns of serial numbers, with \`*\` for any text; ${LIST}.` }),
  systemUuids: t.stringList({ description: `Patterns of system UUIDs, with \`*\` for any text; ${LIST}.` }),
  arch: t.field({ type: BootArch, description: 'Architecture; null: any.' }),
  groupId: t.id({ description: 'Group that the nodes become members of.' }),
  profileId: t.id({ description: 'Boot profile that is assigned to the nodes.' }),
  maxAccepted: t.int({ description: 'Maximum number of machines that it accepts. Default of new rules: 100.' }),
})
type RuleInput = {
  priority?: number | null
  isEnabled?: boolean | null
  maxAccepted?: number | null
  groupId?: string | null
  profileId?: string | null
}
/** Null of a field that always has a value is the same as omitting it. */
const toRule = <T extends RuleInput>({ priority, isEnabled, maxAccepted, groupId, profileId, ...rest }: T) => ({
  ...rest,
  priority: priority ?? undefined,
  isEnabled: isEnabled ?? undefined,
  maxAccepted: maxAccepted ?? undefined,
  groupId: rowIdIfGiven('NodeGroup', groupId),
  profileId: rowIdIfGiven('BootProfile', profileId),
})

mutation('createBootRule', {
  description: 'Creates a rule that accepts unknown machines as new nodes, including those that already wait.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of at most 64 characters.' }),
    names: t.string({ required: true, description: NAMES }),
    ...ruleFields(t),
  }),
  idempotent: true,
  payload: rulePayload,
  errors,
  resolve: async (input, { ctx }) => ({ bootRule: await createBootRule(ctx, toRule(input)) }),
})

mutation('updateBootRule', {
  description: 'Changes a rule. Omitted fields keep their values.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the rule.' }),
    names: t.string({ description: NAMES }),
    ...ruleFields(t),
  }),
  payload: rulePayload,
  errors,
  resolve: async ({ id, names, ...input }, { ctx }) => ({
    bootRule: await updateBootRule(ctx, { ...toRule(input), names: names ?? undefined, id: rowId('BootRule', id) }),
  }),
})

mutation('deleteBootRule', {
  description: 'Deletes a rule. The nodes that it accepted stay.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the rule.' }) }),
  payload: deletedPayload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('BootRule', (await deleteBootRule(ctx, { id: rowId('BootRule', id) })).id),
  }),
})
