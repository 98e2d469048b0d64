import { defineChangeEvent } from '../kernel/events.ts'

/** A sink changed or has a test to make. */
export const auditSinkChanged = defineChangeEvent('auditSink')
