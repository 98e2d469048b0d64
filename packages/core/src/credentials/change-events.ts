import { defineChangeEvent } from '../kernel/events.ts'

/** A new key was created; `id` is its version. */
export const credentialKeyRotated = defineChangeEvent('credentialKey')
