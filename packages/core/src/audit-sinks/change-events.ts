import { defineChangeEvent } from '../kernel/events.ts'

/** A sink changed, or a test was requested. */
export const auditSinkChanged = defineChangeEvent('auditSink')
