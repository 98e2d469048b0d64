import { defineAuditActions } from '../audit/index.ts'

export const jobTemplateAudit = defineAuditActions('job_template', ['archive', 'create', 'restore', 'update', 'updateBuiltIn'])
export const playbookBundleAudit = defineAuditActions('playbook_bundle', ['delete', 'upload'])
