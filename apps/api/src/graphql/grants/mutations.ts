import { NotFound } from '@muster/core/errors'
import { createGrant, deleteGrant } from '@muster/core/grants'
import { globalId, rowId } from '../shared/ids.ts'
import { deletedPayload, mutation } from '../shared/mutation.ts'
import { Grant } from './types.ts'

mutation('createGrant', {
  description:
    'Gives a member those permissions of a role that concern nodes, for the nodes of a group, or those that concern Slurm clusters, for a cluster. The caller must hold all permissions of the role in the whole tenant.',
  input: (t) => ({
    memberId: t.id({ required: true, description: 'ID of the member.' }),
    role: t.string({ required: true, description: 'Name of the role.' }),
    nodeGroupId: t.id({ description: 'ID of the group. Either this or `slurmClusterId` is required.' }),
    jobTemplateIds: t.idList({
      description: 'IDs of the job templates that the member may run on the nodes, at most 100. Default: all.',
    }),
    credentialIds: t.idList({
      description: 'IDs of the credentials with which the member may connect to the nodes, at most 100. Default: all.',
    }),
    slurmClusterId: t.id({ description: 'ID of the cluster.' }),
    partitions: t.stringList({
      description: 'Names of partitions of the cluster, at most 100. Default: the whole cluster, which some permissions need.',
    }),
  }),
  idempotent: true,
  payload: { grant: { type: Grant, description: 'The new grant.' } },
  errors: [NotFound],
  resolve: async (input, { ctx, deps }) => {
    const { memberId, role, nodeGroupId, jobTemplateIds, credentialIds, slurmClusterId, partitions, idempotencyKey } = input
    const grant = await createGrant(ctx, {
      memberId: rowId('Member', memberId),
      role,
      nodeGroupId: nodeGroupId && rowId('NodeGroup', nodeGroupId),
      jobTemplateIds: jobTemplateIds?.map((id) => rowId('JobTemplate', id)),
      credentialIds: credentialIds?.map((id) => rowId('Credential', id)),
      slurmClusterId: slurmClusterId && rowId('SlurmCluster', slurmClusterId),
      partitions,
      idempotencyKey,
    })
    deps.auth.clearCallerCache()
    return { grant }
  },
})

mutation('deleteGrant', {
  description: 'Takes a grant from its member. Runs that it started continue.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the grant.' }) }),
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async ({ id }, { ctx, deps }) => {
    const deleted = await deleteGrant(ctx, { id: rowId('Grant', id) })
    deps.auth.clearCallerCache()
    return { deletedId: globalId('Grant', deleted.id) }
  },
})
