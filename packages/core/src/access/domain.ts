import { defineDomain } from '../kernel/domain.ts'
import {
  apiTokenAudit,
  deviceSignInAudit,
  invitationAudit,
  memberAudit,
  passkeyAudit,
  roleAudit,
  sessionAudit,
  signInMethodAudit,
  tenantAudit,
  totpAudit,
  userAudit,
} from './audit-actions.ts'
import { accessChanged } from './change-events.ts'
import {
  customRolePermissions,
  installationAdminPermissions,
  memberPermissions,
  tenantPermissions,
  tokenPermissions,
} from './permissions.ts'
import { relations } from './relations.ts'
import { accessSettings, ldapSettings, mailSettings, oidcSettings, tokenSettings } from './settings.ts'
import * as tables from './tables.ts'

export const accessDomain = defineDomain({
  name: 'access',
  permissions: { installationAdminPermissions, memberPermissions, customRolePermissions, tokenPermissions, tenantPermissions },
  auditActions: {
    apiTokenAudit,
    deviceSignInAudit,
    invitationAudit,
    memberAudit,
    roleAudit,
    passkeyAudit,
    sessionAudit,
    signInMethodAudit,
    tenantAudit,
    userAudit,
    totpAudit,
  },
  changeEvents: [accessChanged],
  settings: { ...accessSettings, ...ldapSettings, ...mailSettings, ...oidcSettings, ...tokenSettings },
  tables,
  relations,
  graphqlIds: { ApiToken: tables.apiTokens, Invitation: tables.invitations, Member: tables.members },
})
