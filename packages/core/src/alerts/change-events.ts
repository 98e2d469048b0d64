import { defineChangeEvent } from '../kernel/events.ts'

export const alertChanged = defineChangeEvent('alert')
/** A silence began or was ended early. */
export const alertSilenceChanged = defineChangeEvent('alertSilence')
/** A route changed, has a message to send, or sent one. */
export const alertRouteChanged = defineChangeEvent('alertRoute')
