import { defineQueue } from '../kernel/queue.ts'

/** The entry's `id` is the power run. */
export const powerRunQueue = defineQueue('power-run')
/** The entry's `id` is the BMC. */
export const bmcReadQueue = defineQueue('bmc-read')
/** The entry's `id` is the discovery. */
export const bmcDiscoveryQueue = defineQueue('bmc-discovery')
