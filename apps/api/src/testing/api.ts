import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiToken } from '@muster/core/access'
import { localStore } from '@muster/core/artifacts'
import { createListener } from '@muster/core/events'
import type { Ctx } from '@muster/core/registry'
import { testRuntime } from '@muster/core/testing'
import { createApi } from '../api.ts'
import type { ApiDeps } from '../context.ts'
import { createAuth } from '../sign-in/auth.ts'

export const PUBLIC_URL = 'https://muster.test'

/** What came back, with the parts of the answer that tests look at. */
export type Answer<T> = {
  data: T
  errors?: { message: string; extensions: { code: string } }[]
  headers: Headers
  status: number
}
/** A caller of the API: a core context (it gets an API token of its role), headers, or nobody. */
export type As = Ctx | { headers: Record<string, string> } | null

/** The API over a database of its own. `close()` drops it. */
export async function testApi(more: Partial<ApiDeps> = {}) {
  const test = await testRuntime({ notify: 'real' })
  const { runtime } = test
  const listener = await createListener(test.url, runtime.log)
  const folder = await mkdtemp(join(tmpdir(), 'muster-api-'))
  const store = localStore(join(folder, 'artifacts'))
  const auth = createAuth({ db: runtime.db, secret: 'a secret for tests only', publicUrl: PUBLIC_URL, log: runtime.log })
  const api = createApi({ runtime, listener, auth, store, linkSecret: 'a secret for links', publicUrl: PUBLIC_URL, ...more })
  const tokens = new WeakMap<Ctx, string>()

  async function tokenOf(ctx: Ctx): Promise<string> {
    const role = 'role' in ctx.actor ? ctx.actor.role : 'owner'
    // A viewer may make no token: somebody of the tenant does.
    const maker: Ctx = { ...ctx, actor: { kind: 'system', id: null, name: 'test' } }
    const token = tokens.get(ctx) ?? (await createApiToken(maker, { name: `test ${role}`, role })).token
    tokens.set(ctx, token)
    return token
  }

  async function headersOf(as: As): Promise<Record<string, string>> {
    if (!as) return {}
    return 'headers' in as ? as.headers : { authorization: `Bearer ${await tokenOf(as)}` }
  }

  /** Send an operation as a client does. */
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
    /** The data of an operation that must not have top-level errors. */
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
