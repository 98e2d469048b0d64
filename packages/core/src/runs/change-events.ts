import { defineChangeEvent } from '../kernel/events.ts'

export const jobRunChanged = defineChangeEvent('jobRun')
/** `seq` is the highest stored sequence number. */
export const jobRunEventsAppended = defineChangeEvent<{ seq: number }>('jobRunEvents')
/** A user requested cancellation. */
export const jobRunCancelRequested = defineChangeEvent('cancel')
