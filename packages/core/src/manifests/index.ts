export { applyManifests } from './apply/apply-manifests.ts'
export { ApplyManifestsInput, PlanManifestsInput } from './apply/input.ts'
export { planManifests } from './apply/plan-manifests.ts'
export {
  CHANGE_ACTIONS,
  type FieldChange,
  IMPACTS,
  type ManifestChange,
  type ManifestConflict,
  type ManifestImpact,
  type ManifestPlan,
} from './apply/result.ts'
export { manifestAudit } from './audit-actions.ts'
export { ExportManifestsInput, exportManifests } from './export-manifests.ts'
export { KINDS as MANIFEST_KINDS, type KindName as ManifestKind } from './kinds/index.ts'
export type { ManifestIssue } from './parse/issue.ts'
export { manifestPermissions } from './permissions.ts'
export { manifestSchema } from './schema.ts'
