import { defineChangeEvent } from '../kernel/events.ts'

/** A worker started, ended, or was drained or undrained. */
export const workerChanged = defineChangeEvent('worker')
