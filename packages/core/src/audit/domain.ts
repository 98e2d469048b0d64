import { defineDomain } from '../kernel/domain.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const auditDomain = defineDomain({
  name: 'audit',
  tables,
  relations,
})
