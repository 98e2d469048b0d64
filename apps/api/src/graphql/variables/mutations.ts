import { Conflict, NotFound } from '@muster/core/errors'
import {
  restoreVars,
  setSecretVar,
  setVarMerge,
  setVars,
  unsetSecretVar,
  variableAudit,
  varMergeAudit,
} from '@muster/core/variables'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { VarMerge } from './enums.ts'
import { PLACE_OF, placeOf, VariableScope, VarSettings } from './types.ts'

const placeFields = (t: InputFields) => ({
  groupId: t.id({ description: PLACE_OF.groupId }),
  nodeId: t.id({ description: PLACE_OF.nodeId }),
  reason: t.string({ description: 'Why the variables are changed. The version records it.' }),
})

const payload = { variableScope: { type: VariableScope, description: 'The variables after the change.' } }
const errors = [Conflict, NotFound]

mutation('setVars', {
  description:
    'Sets the variables of all nodes, of a group or of a node. Secret variables keep their values. Fails with a conflict when the variables have changed since version `basedOn`.',
  input: (t) => ({
    ...placeFields(t),
    text: t.string({ required: true, description: 'YAML or JSON. The text is stored unchanged, with its comments.' }),
    basedOn: t.int({ required: true, description: 'Version that was edited; 0 when no variables were ever set.' }),
  }),
  payload,
  errors,
  resolve: async (input, { ctx }) => ({ variableScope: await setVars(ctx, { ...input, ...placeOf(input) }) }),
})

mutation('restoreVars', {
  description: 'Restores an earlier version of variables, including secret variables.',
  input: (t) => ({ ...placeFields(t), version: t.int({ required: true, description: 'Version to restore.' }) }),
  payload,
  errors,
  resolve: async (input, { ctx }) => ({ variableScope: await restoreVars(ctx, { ...input, ...placeOf(input) }) }),
})

mutation('setSecretVar', {
  action: variableAudit.setSecret,
  description: 'Sets a secret variable. Only runs receive its value; the API never returns it.',
  input: (t) => ({
    ...placeFields(t),
    name: t.string({ required: true, description: 'Variable name.' }),
    value: t.string({ required: true, description: 'Value, at least 4 characters.' }),
  }),
  payload,
  errors,
  resolve: async (input, { ctx }) => ({ variableScope: await setSecretVar(ctx, { ...input, ...placeOf(input) }) }),
})

mutation('unsetSecretVar', {
  action: variableAudit.unsetSecret,
  description: 'Removes a secret variable. Restoring an earlier version restores its value.',
  input: (t) => ({ ...placeFields(t), name: t.string({ required: true, description: 'Variable name.' }) }),
  payload,
  errors,
  resolve: async (input, { ctx }) => ({ variableScope: await unsetSecretVar(ctx, { ...input, ...placeOf(input) }) }),
})

mutation('setVarMerge', {
  action: varMergeAudit.setVarMerge,
  description: 'Sets how dictionaries are merged when several layers define the same variable, for the whole tenant.',
  input: (t) => ({ merge: t.field({ type: VarMerge, required: true, description: 'How to merge.' }) }),
  payload: { varSettings: { type: VarSettings, description: "The tenant's settings for variables." } },
  resolve: async ({ merge }, { ctx }) => ({ varSettings: await setVarMerge(ctx, { merge }) }),
})
