import { defineQueue } from '../kernel/queue.ts'

export const jobRunQueue = defineQueue('job-run')
