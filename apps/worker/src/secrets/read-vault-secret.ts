import type { OpenStore, ReadSecret } from '@muster/core/credentials'
import { conflict, requestStore, type StoreLimits, unexpectedStatus } from './store-request.ts'

type VaultBody = { auth?: { client_token?: unknown }; data?: { data?: unknown } } | null

/** Reads from HashiCorp Vault and OpenBao (KV version 2, token or AppRole). Signs in once per store. */
export function createReadVaultSecret(limits: StoreLimits): ReadSecret {
  const tokens = new Map<string, Promise<string>>()
  return async (store, path) => {
    const signingIn = tokens.get(store.id) ?? signIn(store, limits)
    tokens.set(store.id, signingIn)
    const token = await signingIn
    const { status, body } = await request(store, 'GET', `${store.mount}/data/${path}`, { token }, limits)
    const where = `${store.mount}/${path}`
    const secret = body?.data?.data
    if (status === 200 && typeof secret === 'object' && secret !== null) return secret as Record<string, unknown>
    if (status === 200) throw conflict(store, `has no KV version 2 engine at ${store.mount}; correct the mount`)
    if (status === 403)
      throw conflict(
        store,
        `does not allow Muster to read ${where}; check that its token has not expired and that its policy allows reading ${store.mount}/data/${path}`,
      )
    if (status === 404) throw conflict(store, `has no secret at ${where}; store it there, or correct the path or the mount`)
    throw unexpectedStatus(store, status, 'a HashiCorp Vault or OpenBao')
  }
}

/** @returns a token that may read */
async function signIn(store: OpenStore, limits: StoreLimits): Promise<string> {
  if (store.auth === 'TOKEN') return store.secret
  const body = { role_id: store.roleId, secret_id: store.secret }
  const response = await request(store, 'POST', 'auth/approle/login', { body }, limits)
  const token = response.body?.auth?.client_token
  if (response.status === 200 && typeof token === 'string') return token
  if ([400, 401, 403].includes(response.status))
    throw conflict(store, 'rejects the role; check the role ID and save a new secret ID')
  if (response.status === 404) throw conflict(store, 'has no AppRole at auth/approle; enable it there')
  throw unexpectedStatus(store, response.status, 'a HashiCorp Vault or OpenBao')
}

/** @param path below /v1 */
async function request(
  store: OpenStore,
  method: string,
  path: string,
  { token, body }: { token?: string; body?: object },
  limits: StoreLimits,
) {
  const url = `${store.address}/v1/${path.split('/').map(encodeURIComponent).join('/')}`
  const headers = {
    'x-vault-request': 'true',
    ...(token ? { 'x-vault-token': token } : {}),
    ...(store.namespace ? { 'x-vault-namespace': store.namespace } : {}),
    ...(body ? { 'content-type': 'application/json' } : {}),
  }
  const request = { url: new URL(url), method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
  return requestStore<VaultBody>(store, request, limits)
}
