import { defineQueue } from '../kernel/queue.ts'

export const credentialRotationQueue = defineQueue('credential_rotation')
