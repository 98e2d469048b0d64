import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiToken } from '@muster/core/access'
import { localStore } from '@muster/core/artifacts'
import { createListener } from '@muster/core/events'
import { actorRole } from '@muster/core/permissions'
import type { Ctx } from '@muster/core/registry'
import { testRuntime } from '@muster/core/testing'
import { createApi } from '../api.ts'
import type { ApiDeps } from '../context.ts'
import { createAuth } from '../sign-in/auth.ts'
import type { Ldap } from '../sign-in/ldap.ts'
import type { Oidc } from '../sign-in/oidc.ts'

export { LOOPBACK } from '@muster/core/testing'
export const PUBLIC_URL = 'https://muster.test'
export const AUTH_SECRET = 'a secret for tests only'

/** Response to an operation, reduced to what tests check. */
export type Answer<T> = {
  data: T
  errors?: { message: string; extensions: { code: string } }[]
  headers: Headers
  status: number
}
/** Caller of an operation: a core context (uses an API token of its role), request headers, or null for no authentication. */
export type As = Ctx | { headers: Record<string, string> } | null

type TestRuntimeOptions = Pick<NonNullable<Parameters<typeof testRuntime>[0]>, 'database' | 'vault'>

/** Creates an API with its own database, or with `database`; `close()` drops it. */
export async function testApi({
  oidc = null,
  ldap = null,
  database,
  vault,
  ...more
}: Partial<ApiDeps> & TestRuntimeOptions & { oidc?: Oidc | null; ldap?: Ldap | null } = {}) {
  const test = await testRuntime({ notify: 'real', database, vault })
  const { runtime } = test
  const listener = await createListener(test.url, runtime.log)
  const folder = await mkdtemp(join(tmpdir(), 'muster-api-'))
  const store = localStore(join(folder, 'artifacts'))
  const auth = createAuth({
    db: runtime.db,
    secret: AUTH_SECRET,
    publicUrl: PUBLIC_URL,
    log: runtime.log,
    listener,
    mailer: more.mailer ?? null,
    oidc,
    ldap,
  })
  const api = createApi({ runtime, listener, auth, store, linkSecret: 'a secret for links', publicUrl: PUBLIC_URL, ...more })
  const tokens = new WeakMap<Ctx, string>()

  /** The user of `ctx`, with the permission to create any token: a viewer cannot. For Muster itself: an owner of the tenant. */
  async function asOwner(ctx: Ctx): Promise<Ctx> {
    if (ctx.actor.kind === 'user')
      return { ...ctx, actor: { ...ctx.actor, ...actorRole('owner', ctx.actor.isInstallationAdmin) } }
    const owner = await runtime.db.query.members.findFirst({ where: { tenantId: ctx.tenantId, role: 'owner' } })
    return { ...ctx, actor: { kind: 'user', id: owner!.userId, name: 'test', ...actorRole('owner') } }
  }

  async function tokenOf(ctx: Ctx): Promise<string> {
    const role = 'role' in ctx.actor ? ctx.actor.role : 'owner'
    const isInstallationAdmin = 'isInstallationAdmin' in ctx.actor && ctx.actor.isInstallationAdmin
    const create = async () => createApiToken(await asOwner(ctx), { name: `test ${role}`, role, isInstallationAdmin })
    const token = tokens.get(ctx) ?? (await create()).token
    tokens.set(ctx, token)
    return token
  }

  async function headersOf(as: As): Promise<Record<string, string>> {
    if (!as) return {}
    return 'headers' in as ? as.headers : { authorization: `Bearer ${await tokenOf(as)}` }
  }

  /** Sends an operation over HTTP. */
  async function send<T = Record<string, never>>(as: As, query: string, variables: object = {}): Promise<Answer<T>> {
    const response = await api.yoga.fetch(`${PUBLIC_URL}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await headersOf(as)) },
      body: JSON.stringify({ query, variables }),
    })
    const body = (await response.json()) as Pick<Answer<T>, 'data' | 'errors'>
    return { ...body, headers: response.headers, status: response.status }
  }

  return {
    ...test,
    api,
    auth,
    listener,
    store,
    send,
    tokenOf,
    /** Sends an operation and returns its data. Throws on top-level errors. */
    async ask<T>(as: As, query: string, variables: object = {}): Promise<T> {
      const { data, errors } = await send<T>(as, query, variables)
      if (errors) throw new Error(errors.map(({ message }) => message).join('\n'))
      return data
    },
    async close() {
      await listener.close()
      await test.close()
      await rm(folder, { recursive: true })
    },
  }
}
