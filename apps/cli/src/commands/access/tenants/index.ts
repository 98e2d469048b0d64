import { commandGroup } from '../../../command.ts'
import { tenantDelete, tenantResume, tenantSuspend, tenantUpdate } from './change.ts'
import { tenantCreate } from './create.ts'
import { tenantList } from './list.ts'

export const tenant = () =>
  commandGroup('tenant', [tenantList(), tenantCreate(), tenantUpdate(), tenantSuspend(), tenantResume(), tenantDelete()])
