import type { OpenStore, ReadSecret } from '@muster/core/credentials/access'
import { Conflict, Unavailable } from '@muster/core/errors'

/** Longest that a store may take for one answer, milliseconds. */
const TIMEOUT_MS = 5000
const MAX_BYTES = 1024 * 1024

type Answer = { status: number; body: { auth?: { client_token?: unknown }; data?: { data?: unknown } } | null }

/**
 * Reads from HashiCorp Vault and OpenBao (KV version 2; signs in with a token or an AppRole). Signs in once per store. What a store
 * says goes into no message and no log: only what its status means.
 */
export function createReadSecret(timeoutMs = TIMEOUT_MS): ReadSecret {
  const tokens = new Map<string, Promise<string>>()
  return async (store, path) => {
    const signingIn = tokens.get(store.id) ?? signIn(store, timeoutMs)
    tokens.set(store.id, signingIn)
    const token = await signingIn
    const { status, body } = await ask(store, 'GET', `${store.mount}/data/${path}`, { token }, timeoutMs)
    const where = `${store.mount}/${path}`
    const secret = body?.data?.data
    if (status === 200 && typeof secret === 'object' && secret !== null) return secret as Record<string, unknown>
    if (status === 200) throw said(store, `has at ${store.mount} no KV engine of version 2; name its mount`)
    if (status === 403)
      throw said(
        store,
        `does not let Muster read ${where}; see that its token is not over, and that its policy allows to read ${store.mount}/data/${path}`,
      )
    if (status === 404) throw said(store, `has nothing at ${where}; put it there, or correct the path or the mount`)
    throw unusual(store, status)
  }
}

/** @returns a token that may read */
async function signIn(store: OpenStore, timeoutMs: number): Promise<string> {
  if (store.auth === 'TOKEN') return store.secret
  const body = { role_id: store.roleId, secret_id: store.secret }
  const answer = await ask(store, 'POST', 'auth/approle/login', { body }, timeoutMs)
  const token = answer.body?.auth?.client_token
  if (answer.status === 200 && typeof token === 'string') return token
  if ([400, 401, 403].includes(answer.status))
    throw said(store, 'refuses the role; see that the role ID is right, and save a new secret ID')
  if (answer.status === 404) throw said(store, 'has no AppRole at auth/approle; enable it there')
  throw unusual(store, answer.status)
}

/** One question. Redirects are not followed: a token goes to the address that an admin gave, and nowhere else. */
async function ask(
  store: OpenStore,
  method: string,
  path: string,
  { token, body }: { token?: string; body?: object },
  timeoutMs: number,
): Promise<Answer> {
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
    if ((error as Error).name === 'TimeoutError') throw away(store, `did not answer within ${timeoutMs / 1000} s`)
    const cause = (error as { cause?: { code?: string; message?: string } }).cause
    if (/CERT|ALTNAME|SIGNATURE/.test(cause?.code ?? ''))
      throw said(
        store,
        `shows a certificate that is not trusted (${cause!.code}); give the worker its authority in NODE_EXTRA_CA_CERTS`,
      )
    throw away(store, `cannot be reached (${cause?.code ?? cause?.message ?? 'no answer'})`)
  }
}

/** Null when it is no JSON object, or too much of it. */
async function readJson(response: Response): Promise<Answer['body']> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' ? (value as Answer['body']) : null
  } catch {
    return null
  }
}

const named = (store: OpenStore) => `The secret store ${store.name} (${store.address})`
const said = (store: OpenStore, what: string) => new Conflict(`${named(store)} ${what}.`)
const away = (store: OpenStore, what: string) =>
  new Unavailable(`${named(store)} ${what}; see that it runs and that the worker may reach it.`)

function unusual(store: OpenStore, status: number) {
  if (status === 503) return away(store, 'is sealed or in maintenance')
  if (status === 429 || status >= 500) return away(store, `answers with ${status}`)
  if (status >= 300 && status < 400) return said(store, 'sends us elsewhere; give it the address of the active server')
  return said(store, `answers with ${status}; see that this is a HashiCorp Vault or OpenBao`)
}
