import {
  addSlurmCluster,
  matchSlurmNode,
  onboardSlurmNodes,
  refreshSlurmCluster,
  removeSlurmCluster,
  testSlurmController,
  updateSlurmCluster,
} from '@muster/core/clusters'
import { Conflict, NotFound } from '@muster/core/errors'
import { nodeAudit } from '@muster/core/nodes'
import { NodeImportReport } from '../nodes/import/types.ts'
import { given, globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { SlurmNode } from './nodes.ts'
import { saltFields } from './salt-fields.ts'
import { slurmrestdFields, withSlurmrestd } from './slurmrestd-fields.ts'
import { SlurmClusterTest } from './tests.ts'
import { SlurmCluster } from './types.ts'

const errors = [Conflict, NotFound]
const payload = { slurmCluster: { type: SlurmCluster, description: 'The cluster.' } }
const NAME = 'Name, unique in the tenant.'
const CONTROLLER = 'Node on which Muster runs the commands of Slurm: a controller, or a login node. Its SSH settings are used.'
const idField = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the cluster.' }) })
const optionalFields = (t: InputFields) => ({
  region: t.string({ description: 'Region.' }),
  backupNodeId: t.id({ description: 'Node that is used when the controller does not answer.' }),
  programFolder: t.string({ description: "Folder of Slurm's programs on these nodes, for example `/opt/slurm/bin`." }),
  maxNodes: t.int({ description: 'A scale-out beyond it is refused.' }),
  ...slurmrestdFields(t),
})

mutation('addSlurmCluster', {
  description:
    'Adds an existing Slurm cluster, which is read at once and then periodically. Nothing is written on its machines. Call `testSlurmController` before.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    controllerNodeId: t.id({ required: true, description: CONTROLLER }),
    ...optionalFields(t),
    reuseConfig: t.boolean({ description: 'Never write slurm.conf. Default: true.' }),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async ({ controllerNodeId, backupNodeId, ...input }, { ctx }) => ({
    slurmCluster: await addSlurmCluster(ctx, {
      ...given(withSlurmrestd(input)),
      controllerNodeId: rowId('ComputeNode', controllerNodeId),
      backupNodeId: rowIdIfGiven('ComputeNode', backupNodeId),
    }),
  }),
})

mutation('updateSlurmCluster', {
  description: 'Changes a Slurm cluster and reads it again. Omitted fields keep their values; null clears a field.',
  input: (t) => ({
    ...idField(t),
    name: t.string({ description: NAME }),
    controllerNodeId: t.id({ description: CONTROLLER }),
    ...optionalFields(t),
    reuseConfig: t.boolean({ description: 'Never write slurm.conf.' }),
    ...saltFields(t),
  }),
  payload,
  errors,
  resolve: async ({ id, name, controllerNodeId, backupNodeId, reuseConfig, saltCredentialId, ...input }, { ctx }) => ({
    slurmCluster: await updateSlurmCluster(ctx, {
      ...withSlurmrestd(input),
      id: rowId('SlurmCluster', id),
      name: name ?? undefined,
      reuseConfig: reuseConfig ?? undefined,
      saltCredentialId: rowIdIfGiven('Credential', saltCredentialId),
      controllerNodeId: rowIdIfGiven('ComputeNode', controllerNodeId ?? undefined),
      backupNodeId: rowIdIfGiven('ComputeNode', backupNodeId),
    }),
  }),
})

mutation('removeSlurmCluster', {
  description: 'Removes an external Slurm cluster from Muster. Nothing changes on its machines; nodes of the inventory stay.',
  input: idField,
  payload: deletedPayload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('SlurmCluster', (await removeSlurmCluster(ctx, { id: rowId('SlurmCluster', id) })).id),
  }),
})

mutation('refreshSlurmCluster', {
  description: 'Reads a Slurm cluster at once, with its configuration. Follow it with the subscription `slurmClusterUpdated`.',
  input: idField,
  payload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    slurmCluster: await refreshSlurmCluster(ctx, { id: rowId('SlurmCluster', id) }),
  }),
})

mutation('testSlurmController', {
  description:
    'Starts a test of everything that reading a Slurm cluster needs on a node. It changes nothing there. Follow it with the subscription `slurmClusterTestUpdated`.',
  input: (t) => ({
    nodeId: t.id({ required: true, description: CONTROLLER }),
    programFolder: t.string({ description: "Folder of Slurm's programs on the node, for example `/opt/slurm/bin`." }),
    ...slurmrestdFields(t),
  }),
  idempotent: true,
  payload: { slurmClusterTest: { type: SlurmClusterTest, description: 'The started test.' } },
  errors,
  resolve: async ({ nodeId, ...input }, { ctx }) => ({
    slurmClusterTest: await testSlurmController(ctx, { ...withSlurmrestd(input), nodeId: rowId('ComputeNode', nodeId) }),
  }),
})

mutation('matchSlurmNode', {
  description: 'Sets which node of the inventory a Slurm node is. The choice stays until it is changed.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the Slurm node.' }),
    nodeId: t.id({ description: 'Node of the inventory; null: none.' }),
    automatic: t.boolean({
      description: 'Undo the choice: match it by address, host name and name, without `nodeId`. Default: false.',
    }),
  }),
  payload: { slurmNode: { type: SlurmNode, description: 'The Slurm node.' } },
  errors,
  resolve: async ({ id, nodeId, automatic }, { ctx }) => ({
    slurmNode: await matchSlurmNode(ctx, {
      id: rowId('SlurmNode', id),
      nodeId: rowIdIfGiven('ComputeNode', nodeId),
      automatic: automatic ?? undefined,
    }),
  }),
})

mutation('onboardSlurmNodes', {
  action: nodeAudit.add,
  description:
    'Adds the nodes of a Slurm cluster that are no nodes of the inventory to it, with NodeName and NodeAddr, and matches them. Their host keys must be approved then.',
  input: (t) => ({
    clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
    hostlist: t.string({ description: 'Only these, for example `gpu[001-064]`. Default: all that match no node.' }),
    credentialId: t.id({ description: 'ID of the login credential. Default: that of the controller node.' }),
    becomeCredentialId: t.id({
      description: 'ID of the credential for privilege escalation. Default: that of the controller node.',
    }),
    bastionId: t.id({ description: 'ID of the bastion credential. Default: that of the controller node.' }),
  }),
  idempotent: true,
  payload: { report: { type: NodeImportReport, description: 'Result of each node.' } },
  errors,
  resolve: async ({ clusterId, credentialId, becomeCredentialId, bastionId, ...input }, { ctx }) => ({
    report: await onboardSlurmNodes(ctx, {
      ...input,
      clusterId: rowId('SlurmCluster', clusterId),
      credentialId: rowIdIfGiven('Credential', credentialId),
      becomeCredentialId: rowIdIfGiven('Credential', becomeCredentialId),
      bastionId: rowIdIfGiven('Credential', bastionId),
    }),
  }),
})
