import type { OpenStore } from '@muster/core/credentials'
import { Conflict, Unavailable } from '@muster/core/errors'

const MAX_BYTES = 1024 * 1024

/**
 * Sends one request to a secret store. Redirects are not followed: a token goes only to the address that an admin set.
 * @returns status and JSON body; null instead of a body that is not a JSON object, or is too large
 * @throws Conflict, Unavailable
 */
export async function requestStore<Body extends object | null>(
  store: OpenStore,
  request: Request,
  timeoutMs: number,
): Promise<{ status: number; body: Body | null }> {
  try {
    const response = await fetch(request, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    return { status: response.status, body: (await readJson(response)) as Body | null }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw unavailable(store, `did not respond within ${timeoutMs / 1000} s`)
    const cause = (error as { cause?: { code?: string; message?: string } }).cause
    if (/CERT|ALTNAME|SIGNATURE/.test(cause?.code ?? ''))
      throw conflict(store, `presents an untrusted certificate (${cause!.code}); set its CA in NODE_EXTRA_CA_CERTS of the worker`)
    throw unavailable(store, `cannot be reached (${cause?.code ?? cause?.message ?? 'no response'})`)
  }
}

/** Null when the body is not a JSON object, or too large. */
async function readJson(response: Response): Promise<object | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

const describe = (store: OpenStore) => `The secret store ${store.name} (${store.address})`
export const conflict = (store: OpenStore, what: string) => new Conflict(`${describe(store)} ${what}.`)
const unavailable = (store: OpenStore, what: string) =>
  new Unavailable(`${describe(store)} ${what}; check that it runs and that the worker can reach it.`)

/** The error of a status that has no meaning of its own. @param kind what the store should be */
export function unexpectedStatus(store: OpenStore, status: number, kind: string) {
  if (status === 503) return unavailable(store, 'is sealed or in maintenance')
  if (status === 429 || status >= 500) return unavailable(store, `responds with ${status}`)
  if (status >= 300 && status < 400) return conflict(store, 'redirects; set its address to the active server')
  return conflict(store, `responds with ${status}; check that it is ${kind}`)
}
