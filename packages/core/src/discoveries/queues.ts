import { defineQueue } from '../kernel/queue.ts'

export const discoveryQueue = defineQueue('discovery')
