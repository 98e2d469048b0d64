import { defineChangeEvent } from '../kernel/events.ts'

/** There is a new key; `id` is its version. */
export const credentialKeyRotated = defineChangeEvent('credentialKey')
