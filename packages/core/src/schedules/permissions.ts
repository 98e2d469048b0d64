import { definePermissions } from '../kernel/permissions.ts'

export const schedulePermissions = definePermissions('schedule', {
  write: [
    'operator',
    'Create, change, enable, disable and delete schedules. Through a grant: own schedules on its nodes.',
    'perNode',
  ],
  fire: ['system', 'Start what schedules are due for, and delete their old history.'],
})
