import { defineChangeEvent } from '../kernel/events.ts'

export const discoveryChanged = defineChangeEvent('discovery')
