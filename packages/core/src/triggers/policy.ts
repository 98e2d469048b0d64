import type { Actor } from '../kernel/context.ts'
import { ownedWriteBlockedReason } from '../schedules/index.ts'
import { triggerPermissions } from './permissions.ts'

/** Why `actor` may not change, delete or rotate the trigger; null when allowed. */
export const triggerWriteBlockedReason = (actor: Actor, trigger: { name: string; ownerId: string | null }): string | null =>
  ownedWriteBlockedReason(actor, triggerPermissions.write, 'trigger', trigger)
