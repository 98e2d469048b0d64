/** A key that prevents a second run when a request is repeated, by a double click or after a lost response. */
export function newIdempotencyKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
