/** A message that was not delivered. The text is for admins and contains no secret of the route. */
export class DeliveryError extends Error {
  /** The receiver rejects this message permanently: do not retry. */
  readonly isFinal: boolean
  readonly retryAfterMs: number | undefined
  constructor(message: string, { isFinal = false, retryAfterMs }: { isFinal?: boolean; retryAfterMs?: number | undefined } = {}) {
    super(message)
    this.isFinal = isFinal
    this.retryAfterMs = retryAfterMs
  }
}
