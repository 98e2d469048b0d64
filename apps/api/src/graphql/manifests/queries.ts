import { tenantPermissions } from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { exportManifests, manifestSchema, planManifests } from '@muster/core/manifests'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { ManifestKind, ManifestPlanType, manifestFields } from './types.ts'

const PlanManifestsInput = builder.inputType('PlanManifestsInput', {
  description: 'Input of `planManifests`.',
  fields: manifestFields,
})
const ExportManifestsInput = builder.inputType('ExportManifestsInput', {
  description: 'Input of `exportManifests`.',
  fields: (t) => ({
    kinds: t.field({ type: [ManifestKind], description: 'Only these kinds; at most 8. Default: all.' }),
    names: t.stringList({ description: 'Only objects with these names; at most 10,000. Default: all.' }),
    withVersions: t.boolean({
      description:
        'Adds `metadata.resourceVersion`: applying an object that changed meanwhile is then a conflict. Default: false.',
    }),
  }),
})

const ManifestExport = builder.objectRef<{ text: string }>('ManifestExport').implement({
  description: 'Objects as manifests.',
  fields: (t) => ({ text: t.exposeString('text', { description: 'Manifests as YAML; applying them changes nothing.' }) }),
})

builder.queryFields((t) => ({
  planManifests: t.field({
    type: ManifestPlanType,
    description: 'What `applyManifests` would change. The changes are made and rolled back, so that all their checks apply.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: PlanManifestsInput, required: true, description: 'Input of `planManifests`.' }) },
    resolve: (_root, { input }, { ctx, deps }) => planManifests(ctx, input, deps.localTargets),
  }),
  exportManifests: t.field({
    type: ManifestExport,
    description: 'Objects as manifests, without secrets, built-in, decommissioned and archived objects.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON] },
    args: { input: t.arg({ type: ExportManifestsInput, required: true, description: 'Input of `exportManifests`.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ text: await exportManifests(ctx, input) }),
  }),
  manifestSchema: t.field({
    type: 'String',
    description: 'JSON Schema of the manifests of a kind, for editors.',
    authScopes: { permission: tenantPermissions.read },
    args: { kind: t.arg({ type: ManifestKind, required: true, description: 'Kind.' }) },
    resolve: (_root, { kind }) => `${JSON.stringify(manifestSchema(kind), null, 2)}\n`,
  }),
}))
