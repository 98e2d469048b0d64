import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const VarLayer = builder.enumType('VarLayer', {
  description: 'Layers of variables, lowest precedence first.',
  values: upper({
    global: 'Variables of all nodes.',
    group: 'Variables of a group of the node.',
    node: 'Variables of the node.',
    run: 'Defaults of the template and extra vars of a run.',
  }),
})

export const VarMerge = builder.enumType('VarMerge', {
  description: 'How dictionaries are merged when several layers set the same variable.',
  values: upper({
    replace: 'The layer with the highest precedence replaces the others, as in Ansible.',
    deep: 'Dictionaries are merged recursively, key by key; other values, including lists, are replaced.',
  }),
})

export const VarChangeKind = builder.enumType('VarChangeKind', {
  description: 'Kind of a change of a variable.',
  values: same({ ADDED: 'The variable was added.', CHANGED: 'The value changed.', REMOVED: 'The variable was removed.' }),
})
