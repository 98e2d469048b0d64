import { MAX_READS } from '../limits.ts'

/** Message of status 429. */
export const TOO_MANY_READS = `At most ${MAX_READS} reads of a caller are in progress at once. Wait for responses before sending more requests.`
