import { definePermissions } from '../kernel/permissions.ts'

export const bootPermissions = definePermissions('boot', {
  serve: ['system', 'Serve boot scripts and cloud-init data to machines, and record what they fetch.'],
  observe: ['system', 'Record the stages of boots, and raise and resolve their alerts.'],
})

export const unknownMachinePermissions = definePermissions('unknown_machine', {
  write: ['operator', 'Accept unknown machines as nodes, and reject them.'],
})

export const bootRulePermissions = definePermissions('boot_rule', {
  write: ['admin', 'Create, change and delete rules that accept unknown machines as nodes.'],
})
