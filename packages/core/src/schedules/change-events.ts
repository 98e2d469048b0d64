import { defineChangeEvent } from '../kernel/events.ts'

/** A schedule changed, or was due. */
export const scheduleChanged = defineChangeEvent('schedule')
