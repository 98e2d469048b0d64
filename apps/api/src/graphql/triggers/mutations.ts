import { Conflict, NotFound } from '@muster/core/errors'
import { createTrigger, deleteTrigger, rotateTriggerSecret, triggerAudit, updateTrigger } from '@muster/core/triggers'
import { builder } from '../../builder.ts'
import { RunSettingsInput, settingsInput } from '../runs/setting-fields.ts'
import { globalId, rowId } from '../shared/ids.ts'
import { type DefaultText, deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../shared/mutation.ts'
import { TriggerSignature } from './enums.ts'
import { Trigger } from './types.ts'

const TriggerVariableInput = builder.inputType('TriggerVariableInput', {
  description: 'An extra var with a value from the body of a request.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the extra var.' }),
    path: t.string({
      required: true,
      description: 'JSON Pointer (RFC 6901) to the value, such as `/alerts/0/labels/instance`.',
    }),
    isRequired: t.boolean({ required: true, description: 'Whether a request without the value is rejected.' }),
  }),
})

const NAME = 'Name, unique in the tenant.'
const TEMPLATE = 'Name of the job template.'
const LIMIT = 'Selector of the nodes, as in `runJob`. It is resolved at each request.'
const id = (t: InputFields) => t.id({ required: true, description: 'ID of the trigger.' })

const triggerFields = (t: InputFields, defaultText: DefaultText) => ({
  description: t.string({ description: `Description.${defaultText('empty')}` }),
  nodesPath: t.string({
    description: `JSON Pointer to a hostlist or a list of node names in the body, which must all match \`limit\`.${defaultText('all nodes of `limit`')}`,
  }),
  settings: t.field({ type: RunSettingsInput, description: 'Fixed launch settings.' }),
  variables: t.field({
    type: [TriggerVariableInput],
    description: `Extra vars with values from the body, at most 50. The input schema of the template validates them.${defaultText('none')}`,
  }),
  maxPerHour: t.int({ description: `More requests in an hour are rejected; 1 to 3600.${defaultText('60')}` }),
  isEnabled: t.boolean({ description: `Whether requests are accepted.${defaultText('true')}` }),
})

const trigger = { trigger: { type: Trigger, description: 'The trigger.' } }
const withSecret = {
  ...trigger,
  secret: { type: 'String' as const, description: 'The secret. It is shown only now.' },
}

mutation('createTrigger', {
  description: 'Creates a webhook trigger. It starts runs with the permissions that the caller has at each request.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    template: t.string({ required: true, description: TEMPLATE }),
    limit: t.string({ required: true, description: LIMIT }),
    signature: t.field({ type: TriggerSignature, description: 'How requests are signed. Default: MUSTER.' }),
    ...triggerFields(t, statesDefault),
  }),
  idempotent: true,
  payload: withSecret,
  errors: [Conflict, NotFound],
  resolve: ({ settings, ...input }, { ctx }) => createTrigger(ctx, { ...input, settings: settingsInput(settings) }),
})

mutation('updateTrigger', {
  description:
    'Changes a webhook trigger and makes the caller its owner; only disabling it does not. Omitted fields keep their values; null clears `nodesPath`. `settings` and `variables` replace the previous ones.',
  input: (t) => ({
    id: id(t),
    name: t.string({ description: NAME }),
    template: t.string({ description: TEMPLATE }),
    limit: t.string({ description: LIMIT }),
    ...triggerFields(t, keepsValue),
  }),
  payload: trigger,
  errors: [Conflict, NotFound],
  resolve: async ({ settings, ...input }, { ctx }) => {
    const changes = { ...input, ...(settings ? { settings: settingsInput(settings) } : {}), id: rowId('Trigger', input.id) }
    // The verb rejects null for fields that cannot be cleared.
    return { trigger: await updateTrigger(ctx, changes as Parameters<typeof updateTrigger>[1]) }
  },
})

mutation('rotateTriggerSecret', {
  description:
    'Replaces the secret of a webhook trigger and makes the caller its owner, who must be permitted to start its runs. Signatures with the previous secret are rejected from now on.',
  input: (t) => ({ id: id(t) }),
  payload: withSecret,
  errors: [Conflict, NotFound],
  action: triggerAudit.rotateSecret,
  resolve: ({ id }, { ctx }) => rotateTriggerSecret(ctx, { id: rowId('Trigger', id) }),
})

mutation('deleteTrigger', {
  description: 'Deletes a webhook trigger with its secret and history. Runs that it has started continue.',
  input: (t) => ({ id: id(t) }),
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('Trigger', (await deleteTrigger(ctx, { id: rowId('Trigger', id) })).id),
  }),
})
