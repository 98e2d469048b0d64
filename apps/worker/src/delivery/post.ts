import { type LocalTarget, RequestError, sendRequest } from '@muster/core/outbound'
import { DeliveryError } from './delivery-error.ts'

export type PostRequest = { url: URL; headers: Record<string, string>; body: string }
export type PostResponse = { status: number; retryAfterMs: number | undefined; text: string }
export type Limits = { localTargets: readonly LocalTarget[]; timeoutMs: number; signal: AbortSignal }

const MAX_RESPONSE_BYTES = 64 * 1024

/**
 * Sends a webhook request.
 * @throws DeliveryError when there is no response; TargetError
 */
export async function post(request: PostRequest, limits: Limits): Promise<PostResponse> {
  try {
    const { status, headers, text } = await sendRequest(
      { ...request, method: 'POST' },
      { ...limits, maxBytes: MAX_RESPONSE_BYTES },
    )
    return { status, retryAfterMs: retryAfterMs(headers['retry-after']), text }
  } catch (error) {
    if (error instanceof RequestError) throw new DeliveryError(`${request.url.origin} ${error.message}.`)
    throw limits.signal.aborted ? new DeliveryError((error as Error).message) : error
  }
}

/** Parses a Retry-After header: seconds or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (!header) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : undefined
}
