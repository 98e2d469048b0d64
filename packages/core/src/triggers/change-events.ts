import { defineChangeEvent } from '../kernel/events.ts'

/** A trigger changed, or received a request. */
export const triggerChanged = defineChangeEvent('trigger')
