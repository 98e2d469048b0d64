import { defineChangeEvent } from '../kernel/events.ts'

export const slurmOperationChanged = defineChangeEvent('slurmOperation')
