import { Conflict, NotFound } from '@muster/core/errors'
import { applyManifests, manifestAudit } from '@muster/core/manifests'
import { mutation } from '../shared/mutation.ts'
import { ManifestPlanType, manifestFields } from './types.ts'

mutation('applyManifests', {
  action: manifestAudit.apply,
  description:
    'Creates and changes the objects of manifests, all of them or none: with an issue or a conflict, nothing is applied. Safe to repeat: a second call changes nothing.',
  input: (t) => ({
    ...manifestFields(t),
    fingerprint: t.string({ description: 'From the plan: when the changes differ from it, nothing is applied.' }),
  }),
  payload: { plan: { type: ManifestPlanType, description: 'What was changed, or why nothing was.' } },
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx, deps }) => ({ plan: await applyManifests(ctx, input, deps.localTargets) }),
})
