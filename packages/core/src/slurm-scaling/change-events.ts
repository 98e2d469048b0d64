import { defineChangeEvent } from '../kernel/events.ts'

export const slurmReadinessCheckChanged = defineChangeEvent('slurmReadinessCheck')
