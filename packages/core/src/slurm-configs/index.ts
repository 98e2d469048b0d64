export { slurmConfigAudit } from './audit-actions.ts'
export { CheckSlurmConfigDriftInput, checkSlurmConfigDrift } from './check-slurm-config-drift.ts'
export { ImportSlurmConfigInput, importSlurmConfig } from './import-slurm-config.ts'
export { slurmConfigPermissions } from './permissions.ts'
export { writeSlurmConfigBlockedReason } from './policy.ts'
export { PreviewSlurmConfigInput, previewSlurmConfig, type SlurmConfigPreview } from './preview-slurm-config.ts'
export {
  readSlurmConfig,
  recordSlurmConfigDrift,
  recordSlurmConfigImport,
  recordSlurmConfigRollout,
} from './record-slurm-config.ts'
export {
  RollbackSlurmConfigInput,
  RolloutSlurmConfigInput,
  rollbackSlurmConfig,
  rolloutSlurmConfig,
} from './rollout-slurm-config.ts'
export { SaveSlurmConfigInput, saveSlurmConfig } from './save-slurm-config.ts'
export { CONFIG_ORIGINS, type ConfigOrigin, type SlurmConfigVersion, slurmConfigVersions } from './tables.ts'
export { createConfigVersion, type NewConfigVersion } from './versions.ts'
