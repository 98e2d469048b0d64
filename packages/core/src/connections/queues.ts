import { defineQueue } from '../kernel/queue.ts'

export const connectionTestQueue = defineQueue('connection-test')
