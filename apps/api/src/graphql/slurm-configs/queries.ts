import { tenantPermissions } from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { previewSlurmConfig } from '@muster/core/slurm-configs'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { changesOf, filesOf, SlurmConfigChangeInput, SlurmConfigFilesInput } from './mutations.ts'
import { SlurmConfigPreview } from './types.ts'

const PreviewSlurmConfigInput = builder.inputType('PreviewSlurmConfigInput', {
  description: 'A version, or an edited text.',
  fields: (t) => ({
    clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
    number: t.int({ description: 'Number of a version. Give either the number or the files.' }),
    files: t.field({ type: SlurmConfigFilesInput, description: 'Edited files.' }),
    changes: t.field({ type: [SlurmConfigChangeInput], description: 'Changes of the version; at most 100.' }),
  }),
})

builder.queryField('previewSlurmConfig', (t) =>
  t.field({
    type: SlurmConfigPreview,
    description: 'Problems of a version or an edited text, its difference from the hosts, and what a rollout would do.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: PreviewSlurmConfigInput, required: true, description: 'What to preview.' }) },
    resolve: (_root, { input: { clusterId, number, files, changes } }, { ctx }) =>
      previewSlurmConfig(ctx, {
        clusterId: rowId('SlurmCluster', clusterId),
        number,
        files: files ? filesOf(files) : null,
        changes: changesOf(changes),
      }),
  }),
)
