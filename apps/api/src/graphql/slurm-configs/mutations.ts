import { Conflict, NotFound } from '@muster/core/errors'
import {
  type ConfigFiles,
  checkSlurmConfigDrift,
  importSlurmConfig,
  rollbackSlurmConfig,
  rolloutSlurmConfig,
  saveSlurmConfig,
  slurmConfigAudit,
  validateSlurmConfig,
} from '@muster/core/slurm-configs'
import { slurmOperationAudit } from '@muster/core/slurm-operations'
import { builder } from '../../builder.ts'
import { rowId } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { SlurmOperation } from '../slurm-operations/types.ts'
import { SlurmConfigVersion } from './types.ts'

export const SlurmConfigFilesInput = builder.inputType('SlurmConfigFilesInput', {
  description:
    'Configuration files of a Slurm cluster. Each text may have at most 1,000,000 characters; omitted files do not exist.',
  fields: (t) => ({
    slurmConf: t.string({ required: true, description: 'Text of slurm.conf.' }),
    gresConf: t.string({ description: 'Text of gres.conf.' }),
    cgroupConf: t.string({ description: 'Text of cgroup.conf.' }),
    topologyConf: t.string({ description: 'Text of topology.conf.' }),
  }),
})

export function filesOf({
  slurmConf,
  gresConf,
  cgroupConf,
  topologyConf,
}: typeof SlurmConfigFilesInput.$inferInput): ConfigFiles {
  return {
    'slurm.conf': slurmConf,
    ...(gresConf == null ? {} : { 'gres.conf': gresConf }),
    ...(cgroupConf == null ? {} : { 'cgroup.conf': cgroupConf }),
    ...(topologyConf == null ? {} : { 'topology.conf': topologyConf }),
  }
}

export const SlurmConfigChangeInput = builder.inputType('SlurmConfigChangeInput', {
  description: 'Sets or removes a key of slurm.conf: of a partition, of nodes, or, without both, of the cluster.',
  fields: (t) => ({
    partition: t.string({ description: 'Name of the partition.' }),
    nodes: t.string({ description: 'Nodes by their names in Slurm, as a hostlist. A line of other nodes is split.' }),
    key: t.string({ required: true, description: 'Key, for example `MaxTime`.' }),
    value: t.string({ description: "Value; null removes the key, so that Slurm's default applies." }),
  }),
})
export const changesOf = (changes: (typeof SlurmConfigChangeInput.$inferInput)[] | null | undefined) =>
  changes?.map(({ value, ...change }) => ({ ...change, value: value ?? null }))

const errors = [Conflict, NotFound]
const clusterId = (t: InputFields) => ({ clusterId: t.id({ required: true, description: 'ID of the cluster.' }) })
const reason = (t: InputFields) => ({
  reason: t.string({ required: true, description: 'Reason, at most 200 characters, for the history and the audit log.' }),
})
const operation = {
  slurmOperation: { type: SlurmOperation, description: 'The started operation. Follow it with `slurmOperationUpdated`.' },
}

mutation('importSlurmConfig', {
  description:
    'Reads the configuration files from the hosts of a Slurm cluster and stores them as the next version. Nothing is written there.',
  input: (t) => ({
    ...clusterId(t),
    nodeIds: t.idList({
      description:
        'Nodes besides the controllers that have configuration files of their own; at most 10,000. Rollouts write them, too. Default: those of the last import.',
    }),
    ...reason(t),
  }),
  idempotent: true,
  action: slurmOperationAudit.start,
  payload: operation,
  errors,
  resolve: async ({ clusterId, nodeIds, ...input }, { ctx }) => ({
    slurmOperation: await importSlurmConfig(ctx, {
      ...input,
      clusterId: rowId('SlurmCluster', clusterId),
      nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)),
    }),
  }),
})

mutation('saveSlurmConfig', {
  description:
    'Stores an edited configuration as the next version, without rolling it out. Errors that the edited version does not have are refused. Exactly one of `files` and `changes` is required.',
  input: (t) => ({
    ...clusterId(t),
    basedOn: t.int({
      required: true,
      description: 'Number of the version that was edited: the newest one, else it is a conflict.',
    }),
    files: t.field({
      type: SlurmConfigFilesInput,
      description: 'The files. Exactly one of `files` and `changes` is required.',
    }),
    changes: t.field({
      type: [SlurmConfigChangeInput],
      description: 'Changes of the edited version; at most 100. Exactly one of `files` and `changes` is required.',
    }),
    ...reason(t),
  }),
  idempotent: true,
  action: slurmConfigAudit.create,
  payload: { slurmConfigVersion: { type: SlurmConfigVersion, description: 'The new version.' } },
  errors,
  resolve: async ({ clusterId, files, changes, ...input }, { ctx }) => ({
    slurmConfigVersion: await saveSlurmConfig(ctx, {
      ...input,
      clusterId: rowId('SlurmCluster', clusterId),
      files: files ? filesOf(files) : null,
      changes: changesOf(changes),
    }),
  }),
})

mutation('rolloutSlurmConfig', {
  description:
    'Writes a version of the configuration on the hosts of a Slurm cluster, and makes Slurm use it. Preview it before with `previewSlurmConfig`. A failure on one host restores all.',
  input: (t) => ({
    ...clusterId(t),
    number: t.int({ required: true, description: 'Number of the version.' }),
    fingerprint: t.string({ required: true, description: 'From the preview of this version.' }),
    ...reason(t),
  }),
  idempotent: true,
  action: slurmOperationAudit.start,
  payload: operation,
  errors,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmOperation: await rolloutSlurmConfig(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})

mutation('rollbackSlurmConfig', {
  description: 'Stores the files of an earlier version as a new one, and rolls it out.',
  input: (t) => ({
    ...clusterId(t),
    number: t.int({ description: 'Number of the version to restore. Default: the one before the version that the hosts have.' }),
    ...reason(t),
  }),
  idempotent: true,
  action: slurmOperationAudit.start,
  payload: operation,
  errors,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmOperation: await rollbackSlurmConfig(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})

mutation('validateSlurmConfig', {
  description:
    'Starts slurmctld with a version on the controller of a Slurm cluster, apart from the running one: in a network namespace and a temporary folder. The preview of the version has the result.',
  input: (t) => ({ ...clusterId(t), number: t.int({ required: true, description: 'Number of the version.' }) }),
  idempotent: true,
  action: slurmOperationAudit.start,
  payload: operation,
  errors,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmOperation: await validateSlurmConfig(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})

mutation('checkSlurmConfigDrift', {
  description: 'Compares the configuration files of each host of a Slurm cluster with the version that was rolled out.',
  input: clusterId,
  idempotent: true,
  action: slurmOperationAudit.start,
  payload: operation,
  errors,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmOperation: await checkSlurmConfigDrift(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})
