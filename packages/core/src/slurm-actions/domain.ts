import { defineDomain } from '../kernel/domain.ts'
import { slurmActionAudit } from './audit-actions.ts'
import { slurmActionChanged } from './change-events.ts'
import {
  slurmActionPermissions,
  slurmJobPermissions,
  slurmNodePermissions,
  slurmPartitionPermissions,
  slurmReservationPermissions,
} from './permissions.ts'
import { slurmActionQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const slurmActionsDomain = defineDomain({
  name: 'slurm-actions',
  permissions: {
    slurmActionPermissions,
    slurmJobPermissions,
    slurmNodePermissions,
    slurmPartitionPermissions,
    slurmReservationPermissions,
  },
  auditActions: { slurmActionAudit },
  changeEvents: [slurmActionChanged],
  queues: [slurmActionQueue],
  tables,
  relations,
  graphqlIds: { SlurmAction: tables.slurmActions },
})
