import { defineChangeEvent } from '../kernel/events.ts'

export const slurmClusterChanged = defineChangeEvent('slurmCluster')
export const slurmClusterTestChanged = defineChangeEvent('slurmClusterTest')
export const slurmLookupChanged = defineChangeEvent('slurmLookup')
