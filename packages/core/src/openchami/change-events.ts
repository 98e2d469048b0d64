import { defineChangeEvent } from '../kernel/events.ts'

/** The target changed, or a check was requested. */
export const openchamiTargetChanged = defineChangeEvent('openchamiTarget')
