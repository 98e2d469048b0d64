import { Conflict, NotFound } from '@muster/core/errors'
import { restoreVars, setSecretVar, setVarMerge, setVars, unsetSecretVar } from '@muster/core/variables'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { VarMerge } from './enums.ts'
import { PLACE_OF, placeOf, VariableScope, VarSettings } from './types.ts'

type Fields = PothosSchemaTypes.InputFieldBuilder<(typeof builder)['$inferSchemaTypes'], 'InputObject'>

const place = (t: Fields) => ({
  groupId: t.id({ description: PLACE_OF.groupId }),
  nodeId: t.id({ description: PLACE_OF.nodeId }),
  reason: t.string({ description: 'Why, for the history.' }),
})

const SetVarsInput = builder.inputType('SetVarsInput', {
  description: 'Variables to set. Secret ones stay as they are.',
  fields: (t) => ({
    ...place(t),
    text: t.string({ required: true, description: 'YAML or JSON, kept as it is with its comments.' }),
    basedOn: t.int({ required: true, description: 'The version that was edited; 0 when none were ever set.' }),
  }),
})

const RestoreVarsInput = builder.inputType('RestoreVarsInput', {
  description: 'A version to go back to.',
  fields: (t) => ({ ...place(t), version: t.int({ required: true, description: 'Its number.' }) }),
})

const SetSecretVarInput = builder.inputType('SetSecretVarInput', {
  description: 'A secret variable to set.',
  fields: (t) => ({
    ...place(t),
    name: t.string({ required: true, description: 'Its name.' }),
    value: t.string({ required: true, description: 'Its value, text of at least 4 characters. It is never given out again.' }),
  }),
})

const UnsetSecretVarInput = builder.inputType('UnsetSecretVarInput', {
  description: 'A secret variable to take away.',
  fields: (t) => ({ ...place(t), name: t.string({ required: true, description: 'Its name.' }) }),
})

const shared = {
  type: VariableScope,
  authScopes: { authenticated: true },
  errors: { types: [...COMMON, Conflict, NotFound] },
}

builder.mutationFields((t) => ({
  setVars: t.field({
    ...shared,
    description: 'Set the variables of all nodes, a group or a node. Refused when somebody changed them since `basedOn`.',
    args: { input: t.arg({ type: SetVarsInput, required: true, description: 'The variables.' }) },
    resolve: (_root, { input }, { ctx }) => setVars(ctx, { ...input, ...placeOf(input) }),
  }),
  restoreVars: t.field({
    ...shared,
    description: 'Make variables, secret ones included, what they were at an earlier version.',
    args: { input: t.arg({ type: RestoreVarsInput, required: true, description: 'Which version.' }) },
    resolve: (_root, { input }, { ctx }) => restoreVars(ctx, { ...input, ...placeOf(input) }),
  }),
  setSecretVar: t.field({
    ...shared,
    description: 'Set a secret variable. Runs get its value; nobody else does.',
    args: { input: t.arg({ type: SetSecretVarInput, required: true, description: 'The variable.' }) },
    resolve: (_root, { input }, { ctx }) => setSecretVar(ctx, { ...input, ...placeOf(input) }),
  }),
  unsetSecretVar: t.field({
    ...shared,
    description: 'Take a secret variable away. Restoring an earlier version brings it back.',
    args: { input: t.arg({ type: UnsetSecretVarInput, required: true, description: 'The variable.' }) },
    resolve: (_root, { input }, { ctx }) => unsetSecretVar(ctx, { ...input, ...placeOf(input) }),
  }),
  setVarMerge: t.field({
    type: VarSettings,
    description: 'Say what becomes of dictionaries that several layers give to one variable, in the whole tenant.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { merge: t.arg({ type: VarMerge, required: true, description: 'What becomes of them.' }) },
    resolve: (_root, { merge }, { ctx }) => setVarMerge(ctx, { merge }),
  }),
}))
