import { defineChangeEvent } from '../kernel/events.ts'

export const jobRunChanged = defineChangeEvent('jobRun')
/** `seq` is the highest one stored. */
export const jobRunEventsAppended = defineChangeEvent<{ seq: number }>('jobRunEvents')
/** Somebody asked the run to stop. */
export const jobRunCancelRequested = defineChangeEvent('cancel')
