export {
  CONFIG_FILES,
  type ConfigDiff,
  type ConfigFiles,
  type ConfigPlan,
  type ConfigProblem,
  type ConfigSetting,
  type ConfigSettingsView,
  diffConfig,
  readSettings,
  SETTING_GROUPS,
  type SettingGroup,
  SNIPPET_FILES,
} from '@muster/slurm/config'
export { slurmConfigAudit, slurmConfigSnippetAudit } from './audit-actions.ts'
export { CheckSlurmConfigDriftInput, checkSlurmConfigDrift } from './check-slurm-config-drift.ts'
export { type ConfigHost, configHosts, controllerHosts, controllersIn, findCluster } from './find-cluster.ts'
export { ImportSlurmConfigInput, importSlurmConfig } from './import-slurm-config.ts'
export { slurmConfigPermissions } from './permissions.ts'
export { checkSlurmConfigBlockedReason, importSlurmConfigBlockedReason, writeSlurmConfigBlockedReason } from './policy.ts'
export { PreviewSlurmConfigInput, previewOf, previewSlurmConfig, type SlurmConfigPreview } from './preview-slurm-config.ts'
export {
  readConfigHosts,
  readSlurmConfig,
  readSlurmRollout,
  recordSlurmConfigDrift,
  recordSlurmConfigImport,
  recordSlurmConfigRollout,
  type SlurmRollout,
} from './record-slurm-config.ts'
export {
  RollbackSlurmConfigInput,
  RolloutSlurmConfigInput,
  rollbackSlurmConfig,
  rolloutSlurmConfig,
} from './rollout-slurm-config.ts'
export { SaveSlurmConfigInput, saveSlurmConfig } from './save-slurm-config.ts'
export { ApplySlurmConfigSnippetsInput, applySlurmConfigSnippets } from './snippets/apply-slurm-config-snippets.ts'
export { CreateSlurmConfigSnippetInput, createSlurmConfigSnippet } from './snippets/create-slurm-config-snippet.ts'
export { DeleteSlurmConfigSnippetInput, deleteSlurmConfigSnippet } from './snippets/delete-slurm-config-snippet.ts'
export {
  type ClusterSnippet,
  type ClusterSnippets,
  compareSnippets,
  isSnippetOf,
  SNIPPET_STATES,
  type SnippetState,
} from './snippets/snippet-states.ts'
export { UpdateSlurmConfigSnippetInput, updateSlurmConfigSnippet } from './snippets/update-slurm-config-snippet.ts'
export {
  CONFIG_ORIGINS,
  type ConfigOrigin,
  type SlurmConfigSnippet,
  type SlurmConfigVersion,
  slurmConfigSnippets,
  slurmConfigVersions,
} from './tables.ts'
export {
  CONFIG_VALIDATION_STATES,
  type ConfigValidation,
  ValidateSlurmConfigInput,
  validateSlurmConfig,
} from './validate-slurm-config.ts'
export { createConfigVersion, type NewConfigVersion, releaseOf, rolledOutVersion } from './versions.ts'
