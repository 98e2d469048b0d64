import { defineDomain } from '../kernel/domain.ts'
import { rotationAudit } from './audit-actions.ts'
import { credentialRotationChanged } from './change-events.ts'
import { rotationPermissions } from './permissions.ts'
import { credentialRotationQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const rotationsDomain = defineDomain({
  name: 'rotations',
  permissions: { rotationPermissions },
  auditActions: { rotationAudit },
  changeEvents: [credentialRotationChanged],
  queues: [credentialRotationQueue],
  tables,
  relations,
  graphqlIds: { CredentialRotation: tables.credentialRotations },
})
