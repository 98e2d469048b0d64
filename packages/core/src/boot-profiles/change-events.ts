import { defineChangeEvent } from '../kernel/events.ts'

/** A profile or its assignments changed. */
export const bootProfileChanged = defineChangeEvent('bootProfile')
