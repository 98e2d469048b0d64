import { defineChangeEvent } from '../kernel/events.ts'

/** Waiting runs may be able to start; `id` is the tenant. */
export const nodesFreed = defineChangeEvent('nodesFreed')
/** A queue was paused or resumed, or its limit changed; `id` is the tenant. */
export const queueChanged = defineChangeEvent('queue')
