import type { OpenStore, ReadSecret } from '@muster/core/credentials'
import { Conflict, Unavailable } from '@muster/core/errors'

/** Timeout of one request, in milliseconds. */
const TIMEOUT_MS = 5000
const MAX_BYTES = 1024 * 1024

type StoreResponse = { status: number; body: { auth?: { client_token?: unknown }; data?: { data?: unknown } } | null }

/**
 * Reads from HashiCorp Vault and OpenBao (KV version 2, token or AppRole). Signs in once per store. Messages and logs contain only
 * the meaning of a response's status, never its body.
 */
export function createReadSecret(timeoutMs = TIMEOUT_MS): ReadSecret {
  const tokens = new Map<string, Promise<string>>()
  return async (store, path) => {
    const signingIn = tokens.get(store.id) ?? signIn(store, timeoutMs)
    tokens.set(store.id, signingIn)
    const token = await signingIn
    const { status, body } = await request(store, 'GET', `${store.mount}/data/${path}`, { token }, timeoutMs)
    const where = `${store.mount}/${path}`
    const secret = body?.data?.data
    if (status === 200 && typeof secret === 'object' && secret !== null) return secret as Record<string, unknown>
    if (status === 200) throw conflict(store, `has no KV version 2 engine at ${store.mount}; set the right mount`)
    if (status === 403)
      throw conflict(
        store,
        `does not let Muster read ${where}; check that its token has not expired and that its policy allows reading ${store.mount}/data/${path}`,
      )
    if (status === 404) throw conflict(store, `has nothing at ${where}; store it there, or correct the path or the mount`)
    throw unexpectedStatus(store, status)
  }
}

/** @returns a token that may read */
async function signIn(store: OpenStore, timeoutMs: number): Promise<string> {
  if (store.auth === 'TOKEN') return store.secret
  const body = { role_id: store.roleId, secret_id: store.secret }
  const response = await request(store, 'POST', 'auth/approle/login', { body }, timeoutMs)
  const token = response.body?.auth?.client_token
  if (response.status === 200 && typeof token === 'string') return token
  if ([400, 401, 403].includes(response.status))
    throw conflict(store, 'rejects the role; check the role ID and save a new secret ID')
  if (response.status === 404) throw conflict(store, 'has no AppRole at auth/approle; enable it there')
  throw unexpectedStatus(store, response.status)
}

/** Sends one request. Redirects are not followed: a token goes only to the address that an admin set. */
async function request(
  store: OpenStore,
  method: string,
  path: string,
  { token, body }: { token?: string; body?: object },
  timeoutMs: number,
): Promise<StoreResponse> {
  const url = `${store.address}/v1/${path.split('/').map(encodeURIComponent).join('/')}`
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        'x-vault-request': 'true',
        ...(token ? { 'x-vault-token': token } : {}),
        ...(store.namespace ? { 'x-vault-namespace': store.namespace } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, body: await readJson(response) }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw unavailable(store, `did not respond within ${timeoutMs / 1000} s`)
    const cause = (error as { cause?: { code?: string; message?: string } }).cause
    if (/CERT|ALTNAME|SIGNATURE/.test(cause?.code ?? ''))
      throw conflict(store, `presents an untrusted certificate (${cause!.code}); set its CA in NODE_EXTRA_CA_CERTS of the worker`)
    throw unavailable(store, `cannot be reached (${cause?.code ?? cause?.message ?? 'no response'})`)
  }
}

/** Null when the body is not a JSON object, or too large. */
async function readJson(response: Response): Promise<StoreResponse['body']> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' ? (value as StoreResponse['body']) : null
  } catch {
    return null
  }
}

const describe = (store: OpenStore) => `The secret store ${store.name} (${store.address})`
const conflict = (store: OpenStore, what: string) => new Conflict(`${describe(store)} ${what}.`)
const unavailable = (store: OpenStore, what: string) =>
  new Unavailable(`${describe(store)} ${what}; check that it runs and that the worker can reach it.`)

function unexpectedStatus(store: OpenStore, status: number) {
  if (status === 503) return unavailable(store, 'is sealed or in maintenance')
  if (status === 429 || status >= 500) return unavailable(store, `responds with ${status}`)
  if (status >= 300 && status < 400) return conflict(store, 'redirects; set its address to the active server')
  return conflict(store, `responds with ${status}; check that it is a HashiCorp Vault or OpenBao`)
}
