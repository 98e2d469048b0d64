export { ArchiveJobTemplateInput, archiveJobTemplate } from './archive-job-template.ts'
export { jobTemplateAudit, playbookBundleAudit } from './audit-actions.ts'
export { BUILT_IN_TEMPLATES, OPERATION_TEMPLATES } from './built-in-templates.ts'
export { CreateJobTemplateInput, createJobTemplate, TEMPLATE_DEFAULTS } from './create-job-template.ts'
export { bundleUsers, deletePlaybookBundle } from './delete-playbook-bundle.ts'
export { checkExtraVars, variableNameError } from './extra-vars.ts'
export { fillIn, mayReboot, secretNames } from './input-schema.ts'
export { templatePermissions } from './permissions.ts'
export { deleteBundleBlockedReason, editTemplateBlockedReason } from './policy.ts'
export { readPlaybookBundle } from './read-playbook-bundle.ts'
export { RestoreJobTemplateInput, restoreJobTemplate } from './restore-job-template.ts'
export { batchesOf, JobTags, Serial } from './serial.ts'
export { pathEscapeReason } from './sources/path-inside.ts'
export { type UnpackedFile, unpackBundle } from './sources/unpack-bundle.ts'
export { syncBuiltInTemplates } from './sync-built-in-templates.ts'
export {
  type BundleFile,
  type JobTemplate,
  type JobTemplateVersion,
  PLAYBOOK_SOURCES,
  type PlaybookBundle,
  type PlaybookSource,
  type TemplateSnapshot,
  type Vars,
} from './tables.ts'
export { MAX_RUN_SECONDS, TEMPLATE_FIELDS } from './template-fields.ts'
export { updateBuiltInTemplates } from './update-built-in-templates.ts'
export { UpdateJobTemplateInput, updateJobTemplate } from './update-job-template.ts'
export { UploadPlaybookBundleInput, uploadPlaybookBundle } from './upload-playbook-bundle.ts'
