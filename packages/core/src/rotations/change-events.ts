import { defineChangeEvent } from '../kernel/events.ts'

export const credentialRotationChanged = defineChangeEvent('credentialRotation')
