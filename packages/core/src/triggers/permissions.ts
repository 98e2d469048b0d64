import { definePermissions } from '../kernel/permissions.ts'

export const triggerPermissions = definePermissions('trigger', {
  write: [
    'operator',
    'Create, change and delete webhook triggers, and rotate their secrets. Through a grant: own triggers on its nodes.',
    'perNode',
  ],
  receive: ['system', 'Start what webhook triggers are asked for, and delete their old history.'],
})
