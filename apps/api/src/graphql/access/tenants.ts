import {
  appointInstallationAdmin,
  createTenant,
  deleteTenant,
  dismissInstallationAdmin,
  memberAudit,
  resumeTenant,
  suspendTenant,
  updateTenant,
} from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { rowId } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { Tenant, User } from './people.ts'

const NAME = 'Name, unique in the installation, at most 100 characters.'
const idOfTenant = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the tenant.' }) })
const tenantPayload = (description: string) => ({ tenant: { type: Tenant, description } })

mutation('createTenant', {
  description: 'Creates a tenant, with the caller as its owner. Only for installation administrators.',
  input: (t) => ({ name: t.string({ required: true, description: NAME }) }),
  idempotent: true,
  payload: tenantPayload('The tenant.'),
  errors: [Conflict],
  resolve: async (input, { ctx, deps }) => {
    const tenant = await createTenant(ctx, input)
    deps.auth.clearCallerCache()
    return { tenant }
  },
})

mutation('updateTenant', {
  description: 'Renames a tenant or sets its quotas. Omitted fields keep their values. Only for installation administrators.',
  input: (t) => ({
    ...idOfTenant(t),
    name: t.string({ description: NAME }),
    maxConcurrentRuns: t.int({
      description: 'Maximum number of concurrent runs over all workers, 1 to 10,000; null removes the limit.',
    }),
    maxNodes: t.int({
      description:
        'Maximum number of nodes that are not decommissioned, 0 to 10,000,000; null removes the limit. Existing nodes stay.',
    }),
  }),
  payload: tenantPayload('The changed tenant.'),
  errors: [NotFound, Conflict],
  // The verb rejects null for the name.
  resolve: async (input, { ctx }) => ({
    tenant: await updateTenant(ctx, { ...input, id: rowId('Tenant', input.id) } as Parameters<typeof updateTenant>[1]),
  }),
})

mutation('suspendTenant', {
  description:
    'Suspends a tenant: its members and API tokens have no access and no run starts until it is resumed. Active runs continue. Only for installation administrators.',
  input: idOfTenant,
  payload: tenantPayload('The suspended tenant.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const tenant = await suspendTenant(ctx, { id: rowId('Tenant', id) })
    deps.auth.clearCallerCache()
    return { tenant }
  },
})

mutation('resumeTenant', {
  description: 'Gives the members and API tokens of a suspended tenant access again. Only for installation administrators.',
  input: idOfTenant,
  payload: tenantPayload('The resumed tenant.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const tenant = await resumeTenant(ctx, { id: rowId('Tenant', id) })
    deps.auth.clearCallerCache()
    return { tenant }
  },
})

mutation('deleteTenant', {
  description:
    'Deletes a suspended tenant with all its data: nodes, credentials, runs with logs and artifacts, members, API tokens and its audit log. It cannot be undone. A worker removes the data within minutes; the tenant is listed until then. Only for installation administrators.',
  input: idOfTenant,
  payload: tenantPayload('The tenant, which is being deleted.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx }) => ({ tenant: await deleteTenant(ctx, { id: rowId('Tenant', id) }) }),
})

mutation('appointInstallationAdmin', {
  action: memberAudit.appointInstallationAdmin,
  description:
    'Makes a user an installation administrator, with the permissions that concern all tenants. The user may belong to any tenant. Only for installation administrators.',
  input: (t) => ({ email: t.string({ required: true, description: 'Email address of the user.' }) }),
  payload: { user: { type: User, description: 'The new installation administrator.' } },
  errors: [NotFound, Conflict],
  resolve: async (input, { ctx, deps }) => {
    const user = await appointInstallationAdmin(ctx, input)
    deps.auth.clearCallerCache()
    return { user }
  },
})

mutation('dismissInstallationAdmin', {
  action: memberAudit.dismissInstallationAdmin,
  description:
    'Ends the installation permissions of a user and of the API tokens that the user created with them. The last installation administrator cannot be dismissed. Only for installation administrators.',
  input: (t) => ({ userId: t.id({ required: true, description: 'ID of the user.' }) }),
  payload: { user: { type: User, description: 'The user, who keeps the roles in tenants.' } },
  errors: [NotFound, Conflict],
  resolve: async ({ userId }, { ctx, deps }) => {
    const user = await dismissInstallationAdmin(ctx, { userId: rowId('User', userId) })
    deps.auth.clearCallerCache()
    return { user }
  },
})
