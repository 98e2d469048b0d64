import { defineChangeEvent } from '../kernel/events.ts'

/**
 * What a user or an API token may do changed: a session ended, a token was revoked, a role or membership changed. `id` is the ID of
 * the user or token. API processes read the caller again and end its streams.
 */
export const accessChanged = defineChangeEvent('access')
