import { builder } from '../../builder.ts'

export const Label = builder.objectRef<{ key: string; value: string }>('Label').implement({
  description: 'Label of a node.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Key, unique on the node.' }),
    value: t.exposeString('value', { description: 'Value; can be empty.' }),
  }),
})

export const LabelInput = builder.inputType('LabelInput', {
  description: 'Label of a node.',
  fields: (t) => ({
    key: t.string({ required: true, description: 'Key: letters, digits and `.` `_` `/` `-`; at most 64 characters.' }),
    value: t.string({ required: true, description: 'Value; at most 256 characters.' }),
  }),
})

/** Labels sorted by key. */
export const labelList = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
