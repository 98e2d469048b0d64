import { tenantPermissions } from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { previewSlurmScaleIn, previewSlurmScaleOut } from '@muster/core/slurm-scaling'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { scaleInFields, scaleOutFields, scaleOutInput } from './mutations.ts'
import { SlurmScaleInPreviewType, SlurmScaleOutPreviewType } from './types.ts'

const PreviewSlurmScaleOutInput = builder.inputType('PreviewSlurmScaleOutInput', {
  description: 'Nodes to add.',
  fields: scaleOutFields,
})
const PreviewSlurmScaleInInput = builder.inputType('PreviewSlurmScaleInInput', {
  description: 'Nodes to remove.',
  fields: scaleInFields,
})

builder.queryFields((t) => ({
  previewSlurmScaleOut: t.field({
    type: SlurmScaleOutPreviewType,
    description:
      'Preview of `scaleOutSlurmCluster`: which nodes can join, and how the configuration changes. Nothing is started.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: PreviewSlurmScaleOutInput, required: true, description: 'Nodes to add.' }) },
    resolve: (_root, { input }, { ctx }) => previewSlurmScaleOut(ctx, scaleOutInput(input)),
  }),
  previewSlurmScaleIn: t.field({
    type: SlurmScaleInPreviewType,
    description:
      'Preview of `scaleInSlurmCluster`: the nodes with their jobs, and how the configuration changes. Nothing is started.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: PreviewSlurmScaleInInput, required: true, description: 'Nodes to remove.' }) },
    resolve: (_root, { input }, { ctx }) =>
      previewSlurmScaleIn(ctx, { ...input, clusterId: rowId('SlurmCluster', input.clusterId) }),
  }),
}))
