export { triggerAudit } from './audit-actions.ts'
export { triggerChanged } from './change-events.ts'
export { CreateTriggerInput, createTrigger, type TriggerWithSecret } from './create-trigger.ts'
export { deleteTrigger } from './delete-trigger.ts'
export { findTrigger } from './find-trigger.ts'
export { triggerPermissions } from './permissions.ts'
export { triggerWriteBlockedReason } from './policy.ts'
export { pruneTriggerDeliveries } from './prune-trigger-deliveries.ts'
export { receiveTrigger, TriggerIdempotencyKey, type TriggerResult } from './receive-trigger.ts'
export { rotateTriggerSecret } from './rotate-trigger-secret.ts'
export {
  DELIVERY_OUTCOMES,
  TRIGGER_SIGNATURES,
  type Trigger,
  type TriggerDelivery,
  type TriggerSignature,
  type TriggerVariable,
} from './tables.ts'
export { UpdateTriggerInput, updateTrigger } from './update-trigger.ts'
export { verifySignature } from './verify-signature.ts'
