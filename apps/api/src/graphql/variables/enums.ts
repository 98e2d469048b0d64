import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const VarLayer = builder.enumType('VarLayer', {
  description: 'The layers of variables, from the lowest; a nearer one wins.',
  values: upper({
    global: 'Of all nodes.',
    group: 'Of a group that the node is in.',
    node: 'Of the node alone.',
    run: "A run's template defaults and extra vars.",
  }),
})

export const VarMerge = builder.enumType('VarMerge', {
  description: 'What becomes of dictionaries that several layers give to one variable.',
  values: upper({
    replace: 'The nearest one holds, as Ansible does it.',
    deep: 'Each is laid into the one below, key by key, all the way down; anything else is replaced, lists too.',
  }),
})

export const VarChangeKind = builder.enumType('VarChangeKind', {
  description: 'What became of a variable.',
  values: same({ ADDED: 'It is new.', CHANGED: 'It has another value.', REMOVED: 'It is gone.' }),
})
