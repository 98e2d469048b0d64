import { builder } from '../../builder.ts'
import { same } from './enum-values.ts'

export const SortDirection = builder.enumType('SortDirection', {
  description: 'Sort direction.',
  values: same({ ASC: 'Ascending.', DESC: 'Descending.' }),
})
