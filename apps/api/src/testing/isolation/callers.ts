import { createApiToken, createRole, createServiceAccount } from '@muster/core/access'
import { createGrant } from '@muster/core/grants'
import { createNodeGroup } from '@muster/core/groups'
import type { Ctx } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import type { testApi } from '../api.ts'
import { insertSession } from '../sessions.ts'

type Api = Awaited<ReturnType<typeof testApi>>
/** `isFresh` asks for a session of its own, because some mutations end the session. */
export type Caller = {
  name: string
  isInstallationAdmin: boolean
  headers(isFresh: boolean): Promise<Record<string, string>>
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/**
 * A caller of every kind: tokens of each role, of a custom one, of a grant, of an installation admin and of a service account, a
 * session, and nobody.
 */
export async function callersOf(t: Api, tenant: TenantFixture): Promise<Caller[]> {
  const token = async (name: string, ctx: Ctx): Promise<Caller> => {
    const headers = bearer(await t.tokenOf(ctx))
    return { name, isInstallationAdmin: name === 'installationAdmin', headers: async () => headers }
  }
  const newSession = async () => bearer((await insertSession(t.runtime.db, tenant.owner.actor.id!)).token)
  const session = await newSession()
  const accountOf = async (name: string, role: string, tokenRole = role) => {
    const member = await createServiceAccount(tenant.owner, { name, role })
    const { token } = await createApiToken(tenant.owner, { name, role: tokenRole, serviceAccountId: member.id })
    return { member, caller: { name, isInstallationAdmin: false, headers: async () => bearer(token) } }
  }
  await createRole(tenant.owner, { name: 'caller-custom', permissions: ['node:write', 'template:write', 'credential:write'] })
  // A token carries the grants of its owner within its own role.
  const granted = await accountOf('grant', 'viewer', 'operator')
  const group = await createNodeGroup(tenant.owner, { name: 'caller_granted' })
  await createGrant(tenant.owner, { memberId: granted.member.id, role: 'operator', nodeGroupId: group.id })
  return [
    { name: 'session', isInstallationAdmin: true, headers: async (isFresh) => (isFresh ? newSession() : session) },
    await token('owner', tenant.owner),
    await token('installationAdmin', tenant.installationAdmin),
    await token('admin', tenant.admin),
    await token('operator', tenant.operator),
    await token('viewer', tenant.viewer),
    (await accountOf('serviceAccount', 'admin')).caller,
    (await accountOf('customRole', 'caller-custom')).caller,
    granted.caller,
    { name: 'anonymous', isInstallationAdmin: false, headers: async () => ({}) },
  ]
}
