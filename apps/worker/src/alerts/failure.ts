/** Why a message did not get through, for the admin who reads it; it holds no secret of the route. */
export class NotSent extends Error {
  /** The receiver will not take it as it is, however often it comes. */
  readonly isFinal: boolean
  readonly retryAfterMs: number | undefined
  constructor(message: string, { isFinal = false, retryAfterMs }: { isFinal?: boolean; retryAfterMs?: number | undefined } = {}) {
    super(message)
    this.isFinal = isFinal
    this.retryAfterMs = retryAfterMs
  }
}
