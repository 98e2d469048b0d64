import { defineChangeEvent } from '../kernel/events.ts'

export const connectionTestChanged = defineChangeEvent('connectionTest')
