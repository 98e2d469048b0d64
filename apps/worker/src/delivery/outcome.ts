import type { DeliveryOutcome } from '@muster/core/alerts'
import { DomainError } from '@muster/core/errors'
import type { Log } from '@muster/core/log'
import { TargetError } from '@muster/core/outbound'
import { DeliveryError } from './delivery-error.ts'
import type { PostResponse } from './post.ts'

/** Makes one attempt and returns its outcome; null means delivered. Unexpected errors are only logged. */
export async function outcomeOf(log: Log, target: string, attempt: () => Promise<void>): Promise<DeliveryOutcome> {
  try {
    await attempt()
    return null
  } catch (error) {
    if (error instanceof DeliveryError) {
      const { message, isFinal, retryAfterMs } = error
      return { error: message, isFinal, ...(retryAfterMs ? { retryAfterMs } : {}) }
    }
    if (error instanceof DomainError || error instanceof TargetError) return { error: error.message }
    log.error({ err: error, target }, 'a delivery failed unexpectedly')
    return { error: 'An unexpected error occurred; see the log of the worker.' }
  }
}

/** @throws DeliveryError when the status of the response reports that the message was not accepted */
export function assertAcceptedStatus(origin: string, { status, retryAfterMs }: PostResponse): void {
  if (status === 429 || status >= 500) throw new DeliveryError(`${origin} responds with ${status}.`, { retryAfterMs })
  if (status >= 300 && status < 400)
    throw new DeliveryError(`${origin} redirects (${status}); set the URL to the redirect's target.`)
  if (status >= 400)
    throw new DeliveryError(`${origin} responds with ${status}.`, { isFinal: [400, 413, 415, 422].includes(status) })
}
