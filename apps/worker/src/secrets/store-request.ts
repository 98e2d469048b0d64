import type { OpenStore } from '@muster/core/credentials'
import { Conflict, Unavailable } from '@muster/core/errors'
import { type LocalTarget, type OutboundRequest, RequestError, sendRequest, TargetError } from '@muster/core/outbound'

const MAX_BYTES = 1024 * 1024

export type StoreLimits = { localTargets: readonly LocalTarget[]; timeoutMs: number }

/**
 * Sends one request to a secret store.
 * @returns status and JSON body; null instead of a body that is not a JSON object, or is too large
 * @throws Conflict, Unavailable
 */
export async function requestStore<Body extends object | null>(
  store: OpenStore,
  request: OutboundRequest,
  limits: StoreLimits,
): Promise<{ status: number; body: Body | null }> {
  try {
    const { status, text, isCut } = await sendRequest(request, { ...limits, maxBytes: MAX_BYTES })
    return { status, body: (isCut ? null : parseObject(text)) as Body | null }
  } catch (error) {
    if (error instanceof TargetError) throw new Conflict(`${describe(store)} is rejected. ${error.message}`)
    if (!(error instanceof RequestError)) throw error
    throw error.kind === 'certificate' ? conflict(store, error.message) : unavailable(store, error.message)
  }
}

/** Null when the text is not a JSON object. */
function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
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
