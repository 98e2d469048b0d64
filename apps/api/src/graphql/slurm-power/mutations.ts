import { Conflict, NotFound } from '@muster/core/errors'
import { slurmOperationAudit } from '@muster/core/slurm-operations'
import { setSlurmPowerSaving } from '@muster/core/slurm-power'
import { builder } from '../../builder.ts'
import { rowId } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { SlurmOperation } from '../slurm-operations/types.ts'

const SettingsInput = builder.inputType('SlurmPowerSavingSettingsInput', {
  description: 'Power saving settings.',
  fields: (t) => ({
    suspendTimeSeconds: t.int({ description: 'Idle time in seconds after which a node is suspended. Default: 600.' }),
    suspendTimeoutSeconds: t.int({ description: 'Seconds within which a node powers down. Default: 300.' }),
    resumeTimeoutSeconds: t.int({
      description: 'Seconds after which a resumed node that has not registered becomes DOWN. Default: 600.',
    }),
    suspendRate: t.int({ description: 'Nodes that are suspended per minute, at least 1. Default: 60.' }),
    resumeRate: t.int({ description: 'Nodes that are resumed per minute, at least 1. Default: 60.' }),
    excludedNodes: t.string({ description: 'Nodes that are never suspended, as a hostlist.' }),
    excludedPartitions: t.stringList({ description: 'Partitions whose nodes are never suspended; at most 100.' }),
    apiUrl: t.string({
      required: true,
      description: 'URL at which the controllers reach the API of Muster, with `https://`.',
    }),
    caCertificate: t.string({
      description: 'PEM certificates of the only accepted authorities. Default: those that the controllers trust.',
    }),
  }),
})

export const powerSavingFields = (t: InputFields) => ({
  clusterId: t.id({ required: true, description: 'ID of the managed cluster.' }),
  settings: t.field({ type: SettingsInput, description: 'Settings; null turns power saving off.' }),
})

type Fields = { clusterId: string; settings?: typeof SettingsInput.$inferInput | null | undefined }
export const powerSavingInput = ({ clusterId, settings }: Fields) => ({
  clusterId: rowId('SlurmCluster', clusterId),
  settings: settings
    ? {
        ...settings,
        suspendTimeSeconds: settings.suspendTimeSeconds ?? undefined,
        suspendTimeoutSeconds: settings.suspendTimeoutSeconds ?? undefined,
        resumeTimeoutSeconds: settings.resumeTimeoutSeconds ?? undefined,
        suspendRate: settings.suspendRate ?? undefined,
        resumeRate: settings.resumeRate ?? undefined,
        excludedPartitions: settings.excludedPartitions ?? undefined,
      }
    : null,
})

mutation('setSlurmPowerSaving', {
  description:
    'Turns power saving of a managed Slurm cluster on or off, or changes its settings. With power saving, the controllers power idle nodes off and on through their BMCs. Each change of the settings issues a new token to the controllers. Preview it with `previewSlurmPowerSaving`.',
  input: (t) => ({
    ...powerSavingFields(t),
    fingerprint: t.string({ required: true, description: 'From the preview.' }),
    reason: t.string({ required: true, description: 'Reason, at most 200 characters, for the history and the audit log.' }),
  }),
  idempotent: true,
  action: slurmOperationAudit.start,
  payload: {
    slurmOperation: { type: SlurmOperation, description: 'The started operation. Follow it with `slurmOperationUpdated`.' },
  },
  errors: [Conflict, NotFound],
  resolve: async ({ clusterId, settings, ...input }, { ctx }) => ({
    slurmOperation: await setSlurmPowerSaving(ctx, { ...input, ...powerSavingInput({ clusterId, settings }) }),
  }),
})
