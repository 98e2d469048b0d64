import { defineChangeEvent } from '../kernel/events.ts'

export const powerRunChanged = defineChangeEvent('powerRun')
export const powerRunCancelRequested = defineChangeEvent('powerRunCancel')
export const bmcDiscoveryChanged = defineChangeEvent('bmcDiscovery')
