import { defineChangeEvent } from '../kernel/events.ts'

/**
 * The access of a user, token or tenant changed: a session ended, a token was revoked, or a role or membership changed. `id` is the
 * ID of the user, token or tenant. API processes clear their caller cache and end the streams of callers who lost access.
 */
export const accessChanged = defineChangeEvent('access')
