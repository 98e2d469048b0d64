import { defineDomain } from '../kernel/domain.ts'
import { credentialAudit, secretStoreAudit } from './audit-actions.ts'
import { credentialKeyRotated } from './change-events.ts'
import { credentialPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import { credentialKeySettings, masterPasswordSettings } from './settings.ts'
import * as tables from './tables.ts'

export const credentialsDomain = defineDomain({
  name: 'credentials',
  permissions: { credentialPermissions },
  auditActions: { credentialAudit, secretStoreAudit },
  changeEvents: [credentialKeyRotated],
  settings: { ...credentialKeySettings, ...masterPasswordSettings },
  tables,
  relations,
  graphqlIds: { Credential: tables.credentials, SecretStore: tables.secretStores },
})
