/** A key that makes one run of the same request sent twice, by an impatient double click or after a lost answer. */
export function newAttempt(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
