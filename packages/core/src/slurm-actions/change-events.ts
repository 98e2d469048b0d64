import { defineChangeEvent } from '../kernel/events.ts'

export const slurmActionChanged = defineChangeEvent('slurmAction')
