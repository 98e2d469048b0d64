export { ConfigChangeError, changeConfig } from './change.ts'
export { checkConfig } from './check/index.ts'
export { cloudNodeNames, listedCloudData } from './cloud.ts'
export { configuredMemory, createConfig, extraLineProblem, formatGres, gresTotals } from './create.ts'
export { type ConfigDiff, diffConfig } from './diff.ts'
export { addNodes, removeNodes } from './edit.ts'
export { controllerNames, nodeNames, readEntries, readHostlist, readSetting } from './model.ts'
export { type ConfigField, type ConfigLine, type ParsedConfig, parseConfig } from './parse.ts'
export { type ConfigPlan, planConfig } from './plan.ts'
export { type ConfigSetting, type ConfigSettingsView, readSettings, SETTING_GROUPS, type SettingGroup } from './settings.ts'
export {
  applySnippets,
  type ConfigSnippet,
  hasSnippet,
  SNIPPET_FILES,
  type SnippetConflict,
  type SnippetFiles,
  snippetNames,
  snippetProblems,
} from './snippets.ts'
export { trialFiles } from './trial.ts'
export {
  CONFIG_FILES,
  type ConfigChange,
  ConfigError,
  type ConfigFileName,
  type ConfigFiles,
  type ConfigGres,
  type ConfigNode,
  type ConfigProblem,
  type ConfigSettings,
} from './types.ts'
