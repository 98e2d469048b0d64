import { defineRelationsPart } from 'drizzle-orm'
import * as tables from './tables.ts'

export const relations = defineRelationsPart(tables, (r) => ({
  accounts: {},
  apiTokens: {
    createdBy: r.one.users({ from: r.apiTokens.createdById, to: r.users.id }),
    owner: r.one.users({ from: r.apiTokens.ownerId, to: r.users.id, optional: false }),
  },
  deviceAuthorizations: {},
  invitations: {},
  roles: {},
  members: {
    tenant: r.one.tenants({ from: r.members.tenantId, to: r.tenants.id, optional: false }),
    user: r.one.users({ from: r.members.userId, to: r.users.id, optional: false }),
  },
  passkeys: {},
  sessions: { user: r.one.users({ from: r.sessions.userId, to: r.users.id, optional: false }) },
  signInAttempts: {},
  tenants: {},
  twoFactors: {},
  users: { memberships: r.many.members() },
  verifications: {},
}))
