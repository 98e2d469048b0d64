import { builder } from '../../builder.ts'
import { same } from './enum-values.ts'

export const SortDirection = builder.enumType('SortDirection', {
  description: 'Direction of an order.',
  values: same({ ASC: 'Smallest first.', DESC: 'Largest first.' }),
})
