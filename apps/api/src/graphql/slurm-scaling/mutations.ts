import { slurmClusterAudit } from '@muster/core/clusters'
import { Conflict, NotFound } from '@muster/core/errors'
import { slurmOperationAudit } from '@muster/core/slurm-operations'
import { createSlurmCluster, releaseSlurmCluster, scaleInSlurmCluster, scaleOutSlurmCluster } from '@muster/core/slurm-scaling'
import { builder } from '../../builder.ts'
import { saltFields } from '../clusters/salt-fields.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { same } from '../shared/enum-values.ts'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { SlurmOperation } from '../slurm-operations/types.ts'

const errors = [Conflict, NotFound]
const payload = {
  slurmOperation: { type: SlurmOperation, description: 'The started operation. Follow it with `slurmOperationUpdated`.' },
}
const reason = (t: InputFields) => ({
  reason: t.string({ required: true, description: 'Reason, at most 200 characters, for the history and the audit log.' }),
})
const fingerprint = (t: InputFields) => ({
  fingerprint: t.string({ required: true, description: 'From the preview: another plan is a conflict.' }),
})
const shardsPerGpu = (t: InputFields) => ({
  shardsPerGpu: t.int({
    description:
      'Shards per whole GPU, at most 1000: the number of jobs that can share it with `--gres=shard:1`. Default: no shards.',
  }),
})
export const scaleOutFields = (t: InputFields) => ({
  clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
  limit: t.string({ description: 'Nodes of the inventory: a hostlist, group or query. Give either the limit or the IDs.' }),
  nodeIds: t.idList({ description: 'Nodes of the inventory; at most 10,000.' }),
  partitions: t.stringList({
    description: 'Partitions that get the nodes, at most 100; those of all nodes have them anyway. Default: none.',
  }),
  ...shardsPerGpu(t),
})
export const scaleInFields = (t: InputFields) => ({
  clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
  hostlist: t.string({ required: true, description: 'Names of the nodes in Slurm, for example `gpu[003-004]`; at most 10,000.' }),
})

const SlurmAccountingKind = builder.enumType('SlurmAccountingKind', {
  description: 'Where the jobs of a managed cluster are recorded.',
  values: same({
    NONE: 'Jobs are not recorded.',
    EXISTING: 'In a slurmdbd that exists. Nothing is written there.',
    MANAGED: 'In slurmdbd and MariaDB, which are installed on a node.',
  }),
})
const SlurmAccountingInput = builder.inputType('SlurmAccountingInput', {
  description: 'Accounting of a managed cluster.',
  fields: (t) => ({
    kind: t.field({ type: SlurmAccountingKind, required: true, description: 'Kind of accounting.' }),
    host: t.string({
      description:
        'Host of an existing slurmdbd, or host:port; required for EXISTING, else null. It must accept the munge key of the cluster.',
    }),
    nodeId: t.id({
      description:
        'ID of the node on which slurmdbd and MariaDB are installed; required for MANAGED, else null. It may be the controller.',
    }),
  }),
})

/** The verb rejects an empty field. */
function accountingOf({ kind, host, nodeId }: typeof SlurmAccountingInput.$inferInput) {
  if (kind === 'NONE') return { kind }
  return kind === 'EXISTING' ? { kind, host: host ?? '' } : { kind, nodeId: nodeId ? rowId('ComputeNode', nodeId) : '' }
}

mutation('createSlurmCluster', {
  description: 'Creates a managed Slurm cluster: installs Slurm on nodes that are READY, and configures and starts it.',
  input: (t) => ({
    name: t.string({
      required: true,
      description: 'Name, unique in the tenant, and ClusterName: a-z, 0-9, - and _, at most 40 characters.',
    }),
    region: t.string({ description: 'Region.' }),
    controllerNodeId: t.id({ required: true, description: 'Node that runs slurmctld.' }),
    backupNodeId: t.id({ description: 'Node that runs slurmctld when the controller is down.' }),
    computeNodeIds: t.idList({ required: true, description: 'Nodes that run jobs; at most 10,000.' }),
    loginNodeIds: t.idList({ description: "Nodes that get Slurm's commands only; at most 10,000." }),
    partition: t.string({ description: 'Name of the partition of all nodes. Default: batch.' }),
    maxNodes: t.int({ description: 'A scale-out beyond it is refused.' }),
    stateFolder: t.string({
      description: "Folder of the controllers' state. Required with a backup, on storage that both share.",
    }),
    prefix: t.string({
      description: 'Folder with an installed Slurm, for example `/opt/slurm`. Default: packages are installed.',
    }),
    repositoryUrl: t.string({ description: 'URL of a package repository. Default: the repositories of the nodes.' }),
    repositoryKey: t.string({ description: 'URL of its signing key. Default: `repository.asc` in the repository.' }),
    accounting: t.field({ type: SlurmAccountingInput, description: 'Accounting. Default: none.' }),
    extraLines: t.stringList({ description: 'Further lines of slurm.conf; at most 200.' }),
    ...shardsPerGpu(t),
    ...saltFields(t),
    ...reason(t),
  }),
  idempotent: true,
  payload,
  errors,
  action: slurmOperationAudit.start,
  resolve: async (
    {
      controllerNodeId,
      backupNodeId,
      computeNodeIds,
      loginNodeIds,
      partition,
      accounting,
      extraLines,
      shardsPerGpu,
      saltCredentialId,
      ...input
    },
    { ctx },
  ) => ({
    slurmOperation: await createSlurmCluster(ctx, {
      ...input,
      partition: partition ?? undefined,
      extraLines: extraLines ?? undefined,
      accounting: accounting ? accountingOf(accounting) : undefined,
      shardsPerGpu: shardsPerGpu ?? undefined,
      controllerNodeId: rowId('ComputeNode', controllerNodeId),
      backupNodeId: rowIdIfGiven('ComputeNode', backupNodeId),
      saltCredentialId: rowIdIfGiven('Credential', saltCredentialId),
      computeNodeIds: computeNodeIds.map((id) => rowId('ComputeNode', id)),
      loginNodeIds: (loginNodeIds ?? []).map((id) => rowId('ComputeNode', id)),
    }),
  }),
})

export const scaleOutInput = <
  T extends {
    clusterId: string
    nodeIds?: string[] | null | undefined
    partitions?: string[] | null | undefined
    shardsPerGpu?: number | null | undefined
  },
>(
  input: T,
) => ({
  ...input,
  clusterId: rowId('SlurmCluster', input.clusterId),
  nodeIds: input.nodeIds?.map((id) => rowId('ComputeNode', id)),
  partitions: input.partitions ?? undefined,
  shardsPerGpu: input.shardsPerGpu ?? undefined,
})

mutation('scaleOutSlurmCluster', {
  description:
    'Adds nodes to a managed Slurm cluster: checks them, installs Slurm, and runs a test job on each. Nodes that fail stay out. Preview it before with `previewSlurmScaleOut`.',
  input: (t) => ({ ...scaleOutFields(t), ...fingerprint(t), ...reason(t) }),
  idempotent: true,
  payload,
  errors,
  action: slurmOperationAudit.start,
  resolve: async (input, { ctx }) => ({ slurmOperation: await scaleOutSlurmCluster(ctx, scaleOutInput(input)) }),
})

mutation('scaleInSlurmCluster', {
  description:
    'Removes nodes from a managed Slurm cluster: drains them, waits for the end of their jobs, and removes Slurm from them. Preview it before with `previewSlurmScaleIn`.',
  input: (t) => ({
    ...scaleInFields(t),
    deadlineSeconds: t.int({
      required: true,
      description: 'Time for jobs to end, in seconds, at most a week. Nodes with jobs after it stay in the cluster, undrained.',
    }),
    ...fingerprint(t),
    ...reason(t),
  }),
  idempotent: true,
  payload,
  errors,
  action: slurmOperationAudit.start,
  resolve: async (input, { ctx }) => ({
    slurmOperation: await scaleInSlurmCluster(ctx, { ...input, clusterId: rowId('SlurmCluster', input.clusterId) }),
  }),
})

mutation('releaseSlurmCluster', {
  description: 'Ends the management of a Slurm cluster, which becomes an external one. Nothing changes on its machines.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the cluster.' }) }),
  payload: { slurmCluster: { type: SlurmCluster, description: 'The cluster.' } },
  errors,
  action: slurmClusterAudit.update,
  resolve: async ({ id }, { ctx }) => ({ slurmCluster: await releaseSlurmCluster(ctx, { id: rowId('SlurmCluster', id) }) }),
})
