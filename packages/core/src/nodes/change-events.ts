import { defineChangeEvent } from '../kernel/events.ts'

export const nodeChanged = defineChangeEvent('node')
