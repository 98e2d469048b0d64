import { defineDomain } from '../kernel/domain.ts'
import { idempotencyKeyPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const idempotencyDomain = defineDomain({
  name: 'idempotency',
  permissions: { idempotencyKeyPermissions },
  tables,
  relations,
})
